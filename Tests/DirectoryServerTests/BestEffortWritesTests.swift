// SPDX-License-Identifier: Apache-2.0

import DirectoryFixtures
import Logging
import Synchronization
import TestFixtures
import Testing

@testable import DirectoryServer

@Suite("Best-effort writes")
struct BestEffortWritesTests {
    private struct Full: Error {}

    /// What the log was told.
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    @Test func `the log has lost writes at most once a minute, and every response is sent`() async {
        let (lines, time) = (Lines(), ManualTime())
        let logger = Logger(label: "test") { _ in LineLog { line, _ in lines.all.withLock { $0.append(line) } } }
        let lost = BestEffortWrites(logger: logger, now: { time.now })
        var told: [Int] = []
        for wait in [0, 0, 59, 1, 30, -3600, 60] as [Int64] {
            time.now += wait
            let made: Int? = await lost.attempt("a count") { throw Full() }
            #expect(made == nil)
            told.append(lines.all.withLock { $0.count })
        }
        // A clock that was set back by an hour does not keep the log silent for one.
        #expect(told == [1, 1, 1, 2, 2, 3, 4])
    }

    @Test func `what could be written is given back, and nothing is logged`() async {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in LineLog { line, _ in lines.all.withLock { $0.append(line) } } }
        let made = await BestEffortWrites(logger: logger, now: { 1 }).attempt("a count") { 5 }
        #expect(made == 5)
        #expect(lines.all.withLock { $0.isEmpty })
    }
}
