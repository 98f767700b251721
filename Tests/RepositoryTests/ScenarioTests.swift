// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("Scenarios and corpus")
struct ScenarioTests {
    @Test func `every scenario shows how to run it by hand`() throws {
        let paths = Repository.paths(under: "Tests/Scenarios", endingWith: [".xml"])
        #expect(paths.count >= 50)
        for path in paths {
            let text = try Repository.text(path)
            let name = path.split(separator: "/").suffix(2).joined(separator: "/")
            #expect(text.contains("-sf \(name)"), "\(path) does not say how to run it")
        }
    }

    @Test func `every scenario is part of a situation`() throws {
        let table = try [
            "situations.py", "operation.py", "customers.py", "redirections.py", "signed.py", "__main__.py",
        ]
        .map { try Repository.text("Tests/Scenarios/" + $0) }.joined()
        for path in Repository.paths(under: "Tests/Scenarios", endingWith: [".xml"]) {
            let folder = path.split(separator: "/").dropLast().last ?? ""
            #expect(table.contains("\"\(folder)") || table.contains("\"\(folder)/"), "nothing plays \(path)")
        }
    }

    @Test func `every INVITE of the corpus has its expectation`() throws {
        for (folder, table) in [("Invites", "corpus.tsv"), ("Invites/broken", "broken.tsv")] {
            let folder = "Tests/CallPathTests/" + folder
            let named = try Repository.lines(folder + "/" + table)
                .filter { $0.contains(".sip\t") }.map { String($0.prefix { $0 != "\t" }) }
            let present = Repository.paths(under: folder, endingWith: [".sip"])
                .filter { $0.split(separator: "/").count == folder.split(separator: "/").count + 1 }
                .map { String($0.dropFirst(folder.count + 1)) }
            #expect(named.sorted() == present.sorted())
        }
    }

    @Test func `the corpus keeps its line ends`() throws {
        for path in Repository.paths(under: "Tests/CallPathTests/Invites", endingWith: [".sip"]) {
            guard !path.contains("/broken/") else { continue }
            let head = try Repository.text(path).unicodeScalars
            #expect(head.contains("\r"), "\(path) has lost its CRLF; see .gitattributes")
        }
    }
}
