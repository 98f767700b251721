// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import Testing

@testable import GatewayStore

@Suite("A recorder that stands still")
struct RecorderWatchTests {
    /// Lines of a log, with their levels.
    private final class Lines: Sendable {
        let all = Mutex<[(Logger.Level, String)]>([])
        var levels: [Logger.Level] { all.withLock { $0.map(\.0) } }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var logLevel = Logger.Level.debug
        var metadata: Logger.Metadata = [:]
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) { lines.all.withLock { $0.append((event.level, "\(event.message)")) } }
    }

    @Test func `it is said once, again after ten minutes, and when it is over`() throws {
        let ledger = try LedgerFixture()
        let lines = Lines()
        let recorder = OutcomeRecorder(
            database: ledger.database, ring: ledger.ring, log: Logger(label: "test") { _ in Handler(lines: lines) })
        let age = Mutex(Duration.zero)
        var watch = RecorderWatch(recorder) { age.withLock { $0 } }
        func look(_ seconds: Int) -> [Logger.Level] {
            age.withLock { $0 = .seconds(seconds) }
            lines.all.withLock { $0.removeAll() }
            watch.look()
            return lines.levels
        }
        #expect(look(0) == [])
        #expect(look(29) == [])
        #expect(look(30) == [.warning])
        let line = try #require(lines.all.withLock { $0.first?.1 })
        #expect(line.contains("30 s") && line.contains(ledger.folder) && line.contains("% full"))
        #expect(look(35) == [])
        #expect(look(629) == [])
        #expect(look(630) == [.warning])
        #expect(look(1) == [.notice])
        #expect(look(2) == [])
        #expect(look(31) == [.warning], "another stop")
    }

    @Test func `its age is of the last round`() throws {
        let ledger = try LedgerFixture()
        #expect(ledger.recorder.age >= .zero)
        ledger.recorder.roundEnded()
        #expect(ledger.recorder.age < .seconds(600))
    }
}
