// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import Logging
import Synchronization
import Testing

@testable import GatewayStore

@Suite("A withheld caller leaves no trace")
struct WithheldCallerTests {
    /// Keeps every line that is logged.
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private struct LineHandler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.all.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
        }
    }

    @Test func `no file of the ledger, no event and no log line holds the number or the name`() throws {
        let ledger = try LedgerFixture(capacity: 16) { $0.vocabulary.noMatchShare = 1 }
        let (lines, clock) = (Lines(), ledger.clock)
        let recorder = OutcomeRecorder(
            database: ledger.database, ring: ledger.ring, settings: ledger.settings,
            log: Logger(label: "test") { _ in LineHandler(lines: lines) }, now: { clock.now },
            clockSteps: clock.steps)
        // A signal that carries what the call path leaves out, so that the second line of defence is what is tested.
        var call = ScriptedCall(ledger.ring, 1)
        call.reason = .privacy
        call.carrierName = "Frau Geheim"
        call.missed()
        // More than the ring holds, and a half-written slot: what goes wrong is logged.
        for number in 2...9 {
            call.reason = .privacy
            ScriptedCall(ledger.ring, UInt64(number), like: call).invite(at: Int64(number))
        }
        try recorder.drain()
        call.id = CallIdentifier(high: 0xabcd, low: 10)
        call.missed()
        clock.advance(seconds: 100_000)
        try recorder.drain()
        #expect(try ledger.calls().count > 1)

        var traces = lines.all.withLock { $0 }
        for file in ["herald.sqlite", "herald.sqlite-wal"] {
            let bytes = try Data(contentsOf: URL(filePath: ledger.folder + "/" + file))
            traces.append(String(decoding: bytes, as: UTF8.self))
            // SQLite keeps integers big-endian, in six bytes where they fit.
            let digits = withUnsafeBytes(of: call.caller.bigEndian) { Data($0.suffix(6)) }
            #expect(bytes.range(of: digits) == nil, "\(file) holds the number")
            let word = withUnsafeBytes(of: call.caller) { Data($0) }
            #expect(bytes.range(of: word) == nil, "\(file) holds the number")
        }
        traces += try ledger.rows()
        for trace in traces {
            #expect(!trace.contains("4930123456"))
            #expect(!trace.contains("Geheim"))
        }
    }
}
