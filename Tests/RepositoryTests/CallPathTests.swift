// SPDX-License-Identifier: Apache-2.0

import Testing

/// What a call goes through is memory and plain types: no existential, no suspension, nobody's log, no Foundation.
@Suite("Source files of the call path")
struct CallPathTests {
    private static let folders = [
        "Sources/SIPCore", "Sources/Branding", "Sources/Trust", "Sources/Primitives/Hashing",
        "Sources/Primitives/Timers",
        "Sources/CallPath", "Sources/CallAccounting/CurrentBranding.swift", "Sources/CallAccounting/Outcome",
        "Sources/CallAccounting/Ring",
        "Sources/SIPTransport/Datagram/CallThreadPriority.swift", "Sources/SIPTransport/Datagram/DatagramBatch.swift",
        "Sources/SIPTransport/Datagram/TransportWorker.swift", "Sources/SIPTransport/Datagram/UDPSocket.swift",
    ]

    /// Gates are read from a response of the directory, off the call path; `Decodable` has it so.
    private static let beside = "init(from decoder: any Decoder)"

    private static var files: [String] {
        folders.flatMap { $0.hasSuffix(".swift") ? [$0] : Repository.paths(under: $0, endingWith: [".swift"]) }
    }

    @Test func `each part of the call path is found`() {
        for folder in Self.folders {
            #expect(Repository.exists(folder), "\(folder) has moved; name its new place here")
        }
        #expect(Self.files.count > 80)
    }

    @Test(arguments: [
        (#"\bany [A-Z]"#, "an existential"),
        (#"\bawait\b"#, "a wait"),
        (#"^ *([a-z]+ )?import (Foundation|Dispatch|Logging|NIO|GRDB)"#, "a library that allocates, waits or logs"),
        (#"\b(Date|Logger|print)\("#, "a date, a log or a terminal"),
    ])
    func `no file of the call path has`(_ pattern: String, _ what: String) throws {
        let regex = try Regex(pattern)
        for path in Self.files {
            for (number, line) in try Repository.lines(path).enumerated() where !line.contains(Self.beside) {
                let code = line[..<(line.firstRange(of: "//")?.lowerBound ?? line.endIndex)]
                #expect(code.firstMatch(of: regex) == nil, "\(path):\(number + 1) has \(what): \(line)")
            }
        }
    }
}
