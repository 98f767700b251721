// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Synchronization
import Testing

@testable import GatewayOperator

@Suite("JSON log")
struct JSONLogHandlerTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func add(_ data: Data) { lines.withLock { $0.append(String(decoding: data, as: UTF8.self)) } }
    }

    private func logger(to lines: Lines, level: Logger.Level = .info) -> Logger {
        Logger(label: "herald.test") { label in
            JSONLogHandler(
                label: label, level: level, now: { Date(timeIntervalSince1970: 1_700_000_000.25) },
                write: { lines.add($0) })
        }
    }

    @Test func `a line is one object with its metadata`() {
        let lines = Lines()
        var logger = logger(to: lines)
        logger[metadataKey: "gateway"] = "edge"
        logger.warning("slow", metadata: ["seconds": "3", "tries": ["1", "2"]])
        #expect(
            lines.all == [
                #"{"label":"herald.test","level":"warning","message":"slow","#
                    + #""metadata":{"gateway":"edge","seconds":"3","tries":"[\"1\", \"2\"]"},"#
                    + #""time":"2023-11-14T22:13:20.250Z"}"# + "\n"
            ])
    }

    @Test func `hostile bytes stay inside one line`() {
        let lines = Lines()
        logger(to: lines).info("a\r\n{\"level\":\"x\"}\u{1b}[2J")
        #expect(lines.all.count == 1)
        #expect(lines.all[0].filter { $0 == "\n" || $0 == "\r\n" }.count == 1)
        #expect(!lines.all[0].contains("\u{1b}"))
        #expect(lines.all[0].contains(#""message":"a\r\n{\"level\":\"x\"}\u001b[2J""#))
    }

    @Test func `what is below the level is not written`() {
        let lines = Lines()
        logger(to: lines, level: .error).warning("quiet")
        #expect(lines.all.isEmpty)
    }
}
