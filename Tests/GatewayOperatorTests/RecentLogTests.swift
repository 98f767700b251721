// SPDX-License-Identifier: Apache-2.0

import Logging
import Testing

@testable import GatewayOperator

@Suite("The last lines of the log")
struct RecentLogTests {
    private func logger(_ recent: RecentLog) -> Logger {
        Logger(label: "herald.test") { label in
            RecentLogHandler(SwiftLogNoOpLogHandler(), label: label, recent: recent) { "12:00" }
        }
    }

    @Test func `a line is kept with level, label and metadata`() {
        let recent = RecentLog()
        logger(recent).critical("slow", metadata: ["b": "2", "a": "1"])
        #expect(recent.lines == ["12:00 critical herald.test: slow a=1 b=2"])
    }

    @Test func `only the last lines are kept, and the beginning of each`() {
        let recent = RecentLog(capacity: 3, longest: 30)
        for number in 1...8 { logger(recent).critical("\(number)\(String(repeating: "x", count: 99))") }
        #expect(recent.lines.map { $0.dropFirst(28).first } == ["6", "7", "8"])
        #expect(recent.lines.allSatisfy { $0.count == 30 })
    }

    @Test func `control characters are escaped`() {
        let recent = RecentLog()
        logger(recent).critical("a\n\u{1B}[2J")
        #expect(recent.lines == ["12:00 critical herald.test: a\\u{a}\\u{1b}[2J"])
    }
}
