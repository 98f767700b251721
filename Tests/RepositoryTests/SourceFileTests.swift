// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("Source files")
struct SourceFileTests {
    private static let code = [".swift", ".c", ".cpp", ".h", ".sh", ".py"]

    @Test func `sources are found at all`() {
        #expect(Repository.paths(under: "Sources", endingWith: [".swift"]).count > 20)
        #expect(Repository.exists("Package.swift"))
    }

    @Test func `no file is longer than six hundred lines`() throws {
        // An OpenAPI document is one file, or its references are read by few programs.
        for path in Repository.paths(under: "", endingWith: Self.code + [".yaml"])
        where !path.hasSuffix("/openapi.yaml") {
            let count = try Repository.lines(path).count
            #expect(count <= 600, "\(path) has \(count) lines; split it by what its parts are about")
        }
    }

    @Test func `every source file names its licence in its first line`() throws {
        for path in Repository.paths(under: "", endingWith: Self.code) {
            // SwiftPM wants its tools version in the first line of a manifest.
            let head = try Repository.lines(path).prefix(path == "Package.swift" || path.hasSuffix(".py") ? 2 : 1)
            #expect(
                head.contains { $0.contains("SPDX-License-Identifier: Apache-2.0") },
                "\(path) does not begin with its SPDX line")
        }
    }

    @Test func `every script names its licence under its first line`() throws {
        let steps =
            Repository.paths(under: "Tests/Peers/steps") + Repository.paths(under: "Tests", endingWith: ["/run"])
        #expect(steps.count > 15)
        for path in Repository.paths(under: "Deploy") + steps + [".ci/run"] {
            let head = try Repository.lines(path).prefix(2)
            guard head.first?.hasPrefix("#!") == true else { continue }
            #expect(head.last == "# SPDX-License-Identifier: Apache-2.0", "\(path) has no SPDX line")
        }
    }

    @Test func `no name says only that things lie together`() {
        let words = ["Util", "Helper", "Extensions", "Common", "Manager", "Misc"]
        for path in Repository.paths() {
            for word in words {
                #expect(!path.lowercased().contains(word.lowercased()), "\(path): name it by what it is about")
            }
        }
    }

    @Test func `nothing is left for later in a comment`() throws {
        // Put together here so that this file does not find itself.
        let marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X:", "HA" + "CK:"]
        for path in Repository.paths(under: "", endingWith: Self.code + [".yaml", ".xml", ".md"]) {
            let text = try Repository.text(path)
            for mark in marks {
                #expect(!text.contains(mark), "\(path) has a \(mark); do it, or open an issue")
            }
        }
    }

    @Test func `no program is started by Foundation's Process, which reads past its list of descriptors`() throws {
        // Of a folder of many entries it copies 256 bytes of the last name, wherever that ends (address sanitizer, Swift 6.3).
        for path in Repository.paths(under: "", endingWith: [".swift"]) {
            let text = try Repository.text(path)
            #expect(!text.contains("Proc" + "ess()"), "\(path): use Subprocess, or ChildProgram in tests")
        }
    }

    @Test func `every SIPCore file cites the rules it follows`() throws {
        for path in Repository.paths(under: "Sources/SIPCore", endingWith: [".swift"]) {
            let text = try Repository.text(path)
            #expect(text.contains("RFC ") && text.contains("§"), "\(path) cites no section of an RFC")
        }
    }
}
