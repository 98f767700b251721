// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GRDB
import TestFixtures
import Testing

@testable import GatewayStore

@Suite("Ledger: the size it may take, and older schemas")
struct LedgerRetentionTests {
    @Test func `above its size the oldest delivered rows go, undelivered ones never`() async throws {
        let ledger = try LedgerFixture(capacity: 8_192) { $0.maxBytes = 400_000 }
        let outbox = EventOutboxStore(ledger.database)
        for number in 1...1_200 {
            let call = ScriptedCall(ledger.ring, UInt64(number))
            call.missed(from: Int64(number))
        }
        try ledger.recorder.drain()
        #expect(try ledger.recorder.shrink() == (0, isStuck: true), "nothing is delivered, so nothing may go")
        // All but every tenth call's events are delivered, and one is refused.
        let keys = try ledger.keys()
        for (position, key) in keys.enumerated() where position / 2 % 10 != 0 {
            try await outbox.markDelivered(key: key, receipt: EventReceipt(counted: true), now: 1_767_225_700)
        }
        try await outbox.markRefused(key: keys[0], status: 400, reason: "no", now: 1_767_225_700)
        let undelivered = Set(keys.enumerated().filter { $0.offset / 2 % 10 == 0 }.map(\.element))

        #expect(try ledger.recorder.shrink().deleted > 0)
        let left = try ledger.keys()
        #expect(undelivered.isSubset(of: left))
        let delivered = left.filter { !undelivered.contains($0) }
        #expect(delivered.isEmpty || delivered == keys.filter { !undelivered.contains($0) }.suffix(delivered.count))
        // Every undelivered event still has its call.
        let calls = Set(try LedgerReader(ledger.database.ledger).calls(limit: 10_000).map(\.callID))
        #expect(undelivered.allSatisfy { calls.contains(String($0.suffix(36))) })
        #expect(try ledger.recorder.shrink() == (0, isStuck: false))
    }

    @Test func `without a directory nobody waits for events, and they go with their calls`() throws {
        let ledger = try LedgerFixture(capacity: 8_192) { $0.hasDirectory = false }
        for number in 1...20 { ScriptedCall(ledger.ring, UInt64(number)).missed(from: Int64(number)) }
        try ledger.recorder.drain()
        #expect(try ledger.keys().count == 40)
        ledger.clock.advance(seconds: 91 * 86_400)
        try ledger.recorder.prune()
        // The newest row of each table stays, because numbers of rows are never used twice.
        #expect(try ledger.keys().count == 1)
        #expect(try ledger.calls().count == 1)
    }

    @Test func `without a directory waiting events go above the size`() throws {
        let ledger = try LedgerFixture(capacity: 8_192) { ($0.hasDirectory, $0.maxBytes) = (false, 400_000) }
        for number in 1...1_200 { ScriptedCall(ledger.ring, UInt64(number)).missed(from: Int64(number)) }
        try ledger.recorder.drain()
        #expect(try ledger.recorder.shrink().deleted > 0)
    }

    @Test func `a ledger above its size shrinks by a tenth of it, so that the next rows have space`() throws {
        let ledger = try LedgerFixture(capacity: 8_192) { $0.hasDirectory = false }
        for number in 1...1_200 { ScriptedCall(ledger.ring, UInt64(number)).missed(from: Int64(number)) }
        try ledger.recorder.drain()
        let database = try ledger.database.ledger
        let limit = try Self.usedBytes(database) - 1
        let retention = LedgerRetention(database: database, ringID: 0, outputs: [], hasDirectory: false, step: 10)
        #expect(try retention.shrink(below: limit).deleted > 0)
        let shares = Double(try Self.usedBytes(database)) / Double(limit)
        #expect((0.85...0.9).contains(shares), "\(shares)")
    }

    private static func usedBytes(_ database: any DatabaseWriter) throws -> Int {
        try database.read { database in
            try Int.fetchOne(
                database,
                sql: """
                    SELECT (page_count - freelist_count) * page_size
                    FROM pragma_page_count, pragma_freelist_count, pragma_page_size
                    """) ?? 0
        }
    }

    @Test func `however many rows may not go, each step is short and updates are taken in between`() throws {
        let ledger = try LedgerFixture(capacity: 8_192) { $0.maxBytes = 400_000 }
        for number in 1...1_700 { ScriptedCall(ledger.ring, UInt64(number)).missed(from: Int64(number)) }
        try ledger.recorder.drain(limit: 8_192)
        var steps = 0
        #expect(
            try ledger.recorder.shrink {
                steps += 1
                return true
            } == (0, isStuck: true))
        #expect(steps > 3_400 / 500, "3,400 events wait, 500 are looked at in one step")
    }

    @Test func `a stop does not wait until all old rows are gone, and the next start goes on`() throws {
        let ledger = try LedgerFixture(capacity: 8_192)
        for number in 1...1_700 { ScriptedCall(ledger.ring, UInt64(number)).missed(from: Int64(number)) }
        try ledger.recorder.drain(limit: 8_192)
        try ledger.database.ledger.write { try $0.execute(sql: "UPDATE event SET state = 1, settled_at = 1") }
        ledger.clock.advance(seconds: 200 * 86_400)
        #expect(try ledger.recorder.prune { false } == 500, "one step")
        #expect(try ledger.recorder.prune() == 3_400 + 1_700 - 500 - 2, "the newest of each table stays")
    }

    @Test func `rows of a time when the clock was ahead do not keep the rows behind them`() throws {
        let ledger = try LedgerFixture(capacity: 8_192)
        for number in 1...1_000 { ScriptedCall(ledger.ring, UInt64(number)).missed(from: 500 * 86_400) }
        for number in 1_001...1_010 { ScriptedCall(ledger.ring, UInt64(number)).missed(from: Int64(number)) }
        try ledger.recorder.drain(limit: 8_192)
        try ledger.database.ledger.write { try $0.execute(sql: "UPDATE event SET state = 1, settled_at = 1") }
        ledger.clock.advance(seconds: 200 * 86_400)
        #expect(try ledger.recorder.prune() >= 9, "nine calls and their events, in one run")
        let left = try LedgerReader(ledger.database.ledger).calls(limit: 10_000)
        #expect(left.filter { $0.inviteAt < ledger.clock.now }.count == 1, "the newest row stays")
        #expect(left.count == 1_001)
    }

    @Test func `what waits for an output that is gone goes in short steps, the rest stays`() throws {
        let ledger = try LedgerFixture(capacity: 8_192) { $0.outputs = [.webhook] }
        for number in 1...1_200 { ScriptedCall(ledger.ring, UInt64(number)).missed(from: Int64(number)) }
        try ledger.recorder.drain(limit: 8_192)
        try ledger.database.ledger.write {
            try $0.execute(
                sql: "INSERT INTO call_output (call, sink) SELECT call, ? FROM call_output",
                arguments: [CallOutputSink.file.rawValue])
        }
        func waiting() throws -> [Int] {
            try ledger.database.ledger.read {
                try Int.fetchAll($0, sql: "SELECT count(*) FROM call_output GROUP BY sink ORDER BY sink")
            }
        }
        #expect(try waiting() == [1_200, 1_200])
        _ = try ledger.recorder.prune { false }
        #expect(try waiting() == [700, 1_200], "one step")
        _ = try ledger.recorder.prune()
        #expect(try waiting() == [1_200])
    }

    @Test func `below its size nothing goes`() throws {
        let ledger = try LedgerFixture()
        ScriptedCall(ledger.ring, 1).missed()
        try ledger.recorder.drain()
        #expect(try ledger.recorder.shrink() == (0, isStuck: false))
        #expect(try ledger.keys().count == 2)
    }

    @Test func `files of version 0.2.0 are brought up to date and give the same calls`() throws {
        let temporary = TemporaryFolder()
        let folder = temporary.path
        let ended = CallIdentifier(high: 1, low: 1).description
        let open = CallIdentifier(high: 1, low: 2).description
        do {
            let ledger = try DatabaseQueue(path: HeraldDatabase.ledgerPath(in: folder))
            try ledger.write { try $0.execute(sql: Version020.ledger) }
            try ledger.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO call (id, call_id, sip_call_id, direction, trunk, caller, destination, subscriber,
                            brand_id, brand_name, decision, invite_at, ringing_at, ended_at, status, outcome, end_event)
                        VALUES (1, ?, 'a@x', 1, 'carrier', 4930123456, 61291234567, '1001', 'b-7', 'Acme', 'matched',
                            1767225600000000, 1767225601000000, 1767225631000000, 480, 'MISSED', 1);
                        INSERT INTO call (id, call_id, sip_call_id, direction, trunk, caller, destination, subscriber,
                            brand_id, brand_name, decision, invite_at, ringing_at)
                        VALUES (2, ?, 'b@x', 1, 'carrier', 4930123456, 61291234567, '1001', 'b-7', 'Acme', 'matched',
                            1767225600000000, 1767225601000000);
                        INSERT INTO event (id, key, number, surface, displayed_at, meta, created_at, due_at)
                        VALUES (1, 'missed:' || ?, '+4930123456', 'sip', '2026-01-01T00:00:01Z', '{}', 1767225631, 0);
                        """, arguments: [ended, open, ended])
            }
            try ledger.close()
            let brands = try DatabaseQueue(path: HeraldDatabase.brandsPath(in: folder))
            try brands.write { try $0.execute(sql: Version020.brands) }
            try brands.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO brand VALUES (4930123456, 'Acme', 'b-7', NULL, 'Order', '2026-01-01T00:00:00Z');
                        UPDATE sync_state SET cursor = '2026-01-01T00:00:00.1Z', generation = 3;
                        """)
            }
            try brands.close()
        }

        #expect(throws: HeraldDatabaseError(path: HeraldDatabase.ledgerPath(in: folder), problem: .older)) {
            try HeraldDatabase.ledgerReader(folder: folder)
        }
        let database = try HeraldDatabase(folder: folder)
        let ring = try UpdateRing(path: folder + "/signals.ring", capacity: 64)
        let recorder = OutcomeRecorder(database: database, ring: ring)
        for (kind, status) in [(CallUpdate.Kind.answered, 200), (.bye, 0)] as [(CallUpdate.Kind, UInt16)] {
            ring.append(
                CallUpdate(
                    kind: kind, direction: .inbound, call: CallIdentifier(high: 1, low: 2),
                    wallMicroseconds: 1_767_225_610_000_000, status: status))
        }
        try recorder.drain()
        let calls = try LedgerReader(HeraldDatabase.ledgerReader(folder: folder)).calls(limit: 10)
        #expect(calls.map(\.outcome) == ["ANSWERED", "MISSED"])
        #expect(calls.map(\.isForwarded) == [false, false])
        #expect(calls[1].events.map(\.key) == ["missed:\(ended)"])
        #expect(calls[1].events.map(\.state) == [.waiting])
        let number = try #require(E164Number("+4930123456"))
        let index = try BrandCacheReader(folder: folder).index(of: number, profile: RenderingProfile())
        #expect(index.entry(for: number) != nil)
    }
}
