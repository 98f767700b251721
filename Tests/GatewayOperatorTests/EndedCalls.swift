// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GRDB
import GatewayStore
import GatewayTesting

/// A ledger in a folder of its own that calls end in, with the outputs of the operator.
final class EndedCalls {
    let folder: GatewayFolder
    let database: HeraldDatabase
    let queue: CallOutputStore
    private let ring: UpdateRing
    private let recorder: OutcomeRecorder
    private var count: UInt64 = 0

    /// 2026-01-01T00:00:00Z in microseconds.
    static let start: Int64 = 1_767_225_600_000_000

    init() throws {
        folder = try GatewayFolder()
        database = try HeraldDatabase(folder: folder.path)
        queue = CallOutputStore(database, clock: QueueClock { 0 })
        ring = try UpdateRing(inMemory: 4_096)
        var settings = OutcomeRecorder.Settings()
        settings.outputs = [.file, .webhook, .kafka]
        recorder = OutcomeRecorder(
            database: database, ring: ring, settings: settings, now: { Self.start + 100_000_000 })
    }

    /// Stores missed calls with the Call-IDs `c1`, `c2` and so on.
    func end(_ calls: Int) throws {
        for _ in 0..<calls {
            count += 1
            ring.appendMissed(count, brand: "Acme, \"Bank\"")
        }
        try recorder.drain()
    }

    /// Lets the queue refuse removals, as a full disk does.
    func setRemovals(fail: Bool) throws {
        let sql =
            fail
            ? "CREATE TRIGGER full BEFORE DELETE ON call_output BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
            : "DROP TRIGGER full"
        try database.ledger.write { try $0.execute(sql: sql) }
    }

    /// Calls that wait for an output, at any time.
    func waiting(_ sink: CallOutputSink) throws -> Int {
        try database.ledger.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM call_output WHERE sink = ?", arguments: [sink.rawValue])
                ?? 0
        }
    }
}
