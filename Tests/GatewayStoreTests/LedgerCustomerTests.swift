// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import TestFixtures
import Testing

@testable import GatewayStore

@Suite("Ledger: customers")
struct LedgerCustomerTests {
    private let ledger: LedgerFixture
    private let now = LedgerFixture.Clock.start / 1_000_000 + 3_600

    init() throws {
        ledger = try LedgerFixture { settings in
            settings.customers = [7: "acme", 8: "beta"]
            settings.returns.customers = ["acme": ["1001": "sales", "1002": "sales"], "beta": [:]]
        }
    }

    private func play(_ number: UInt64, _ customer: UInt32) -> ScriptedCall {
        var play = ScriptedCall(ledger.ring, number)
        play.customer = customer
        return play
    }

    private func outbox(_ customer: String?) -> EventOutboxStore {
        EventOutboxStore(ledger.database, of: customer, clock: QueueClock { 0 })
    }

    @Test func `a call and its events keep their customer, also over a restart in mid-call`() async throws {
        let open = play(1, 7)
        open.invite()
        try ledger.recorder.drain()
        ledger.settings.customers = [:]
        try ledger.restart()
        let again = ScriptedCall(ledger.ring, 1)
        again.rings(at: 1)
        again.answered(at: 5)
        again.bye(at: 50)
        play(2, 0).missed()
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.customer) == ["acme", nil])
        #expect(try ledger.events().map(\.customer) == ["acme", "acme", nil, nil])
        let reader = LedgerReader(try ledger.database.ledger)
        var filter = CallFilter()
        filter.customer = "acme"
        #expect(try reader.calls(matching: filter, limit: 9).count == 1)
        #expect(try reader.events(customer: "acme", limit: 9).count == 2)
        #expect(try reader.events(customer: "beta", limit: 9).isEmpty)
    }

    @Test func `the outbox of a customer offers its events alone`() async throws {
        play(1, 7).missed()
        play(2, 8).missed()
        play(3, 0).missed()
        try ledger.recorder.drain()
        for (customer, number) in [("acme", 1), ("beta", 2), (nil, 3)] as [(String?, UInt64)] {
            let due = try await outbox(customer).dueEvents(limit: 10, now: now)
            let id = ScriptedCall(ledger.ring, number).id.description
            #expect(due.map(\.event.key) == ["displayed:\(id)", "missed:\(id)"], "\(customer ?? "none")")
        }
        #expect(try await outbox("gamma").dueEvents(limit: 10, now: now).isEmpty)
    }

    @Test func `customers with due events are found, and a dead directory holds back its own alone`() async throws {
        play(1, 7).missed()
        play(2, 8).missed()
        play(3, 0).missed()
        try ledger.recorder.drain()
        func due() async throws -> [String] {
            try await EventOutboxStore.customersWithDueEvents(in: ledger.database, now: now)
        }
        #expect(try await due() == ["acme", "beta"])
        let acme = outbox("acme")
        for pending in try await acme.dueEvents(limit: 10, now: now) {
            try await acme.postpone(key: pending.event.key, until: now + 300, reason: "Connection refused")
        }
        #expect(try await due() == ["beta"])
        #expect(try await outbox("beta").dueEvents(limit: 10, now: now).count == 2)
        #expect(
            try LedgerReader(ledger.database.ledger).backlogOfCustomers().mapValues(\.waiting) == [
                "acme": 2, "beta": 2,
            ])
    }

    @Test func `refused events are counted and queued again by customer`() async throws {
        for (number, customer) in [(1, 7), (2, 8)] as [(UInt64, UInt32)] { play(number, customer).missed() }
        try ledger.recorder.drain()
        let outboxes = [outbox("acme"), outbox("beta")]
        for outbox in outboxes {
            for pending in try await outbox.dueEvents(limit: 10, now: now) {
                try await outbox.markRefused(key: pending.event.key, status: 422, reason: "bad number", now: now)
            }
        }
        let reader = LedgerReader(try ledger.database.ledger)
        #expect(try reader.backlogOfCustomers() == ["acme": .init(refused: 2), "beta": .init(refused: 2)])
        let key = "missed:\(ScriptedCall(ledger.ring, 1).id)"
        let all = outbox(nil)
        #expect(try await all.retry(key: key, of: "beta", now: now) == false)
        #expect(try await all.retry(key: key, of: "acme", now: now))
        #expect(try await all.retryAllRefused(of: "acme", now: now) == 1)
        #expect(try reader.backlogOfCustomers() == ["acme": .init(waiting: 2), "beta": .init(refused: 2)])
    }

    @Test func `a call back matches a call of its own customer only`() throws {
        play(1, 7).missed()
        var foreign = ScriptedCall.outbound(ledger.ring, 2)
        foreign.customer = 8
        foreign.invite(at: 100)
        foreign.rings(at: 101)
        let nobody = ScriptedCall.outbound(ledger.ring, 3)
        nobody.invite(at: 110)
        nobody.rings(at: 111)
        try ledger.recorder.drain()
        #expect(try !ledger.events().contains { $0.outcome == "returned" })
        var own = ScriptedCall.outbound(ledger.ring, 4)
        (own.customer, own.subscriber) = (7, "1002")
        own.invite(at: 120)
        own.rings(at: 121)
        try ledger.recorder.drain()
        let returned = try #require(try ledger.events().last)
        #expect(returned.outcome == "returned" && returned.customer == "acme")
    }

    @Test func `a second attempt is another call where its customer is another`() throws {
        let ledger = try LedgerFixture { settings in
            settings.customers = [7: "acme", 8: "beta"]
            settings.limits.redial = 10_000_000
        }
        for (number, customer) in [(1, 7), (2, 8), (3, 7)] as [(UInt64, UInt32)] {
            var play = ScriptedCall(ledger.ring, number)
            play.customer = customer
            play.invite(at: Int64(number))
            play.failed(503, at: Int64(number))
        }
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.customer) == ["acme", "beta"])
        #expect(try ledger.calls().map(\.attempts) == [2, 1])
    }

    @Test func `a customer that no configuration names any more is nobody's`() throws {
        play(1, 9).missed()
        try ledger.recorder.drain()
        let customer = try #require(try ledger.calls().first?.customer)
        #expect(customer == "(removed 9)")
        #expect(try ledger.events().allSatisfy { $0.customer == customer })
    }

    @Test func `a removed customer keeps its name while the gateway runs, and has work until its last event`() throws {
        let open = play(1, 7)
        open.invite()
        var settings = ledger.settings
        settings.customers = [8: "beta"]
        ledger.recorder.use(settings)
        try ledger.recorder.drain()
        #expect(try ledger.calls().first?.customer == "acme")
        let reader = LedgerReader(try ledger.database.ledger)
        #expect(try reader.hasWork(of: "acme") && !reader.hasWork(of: "beta"))
    }

    @Test func `a ledger of version 0.2.0 opens with its calls and its waiting events`() async throws {
        let folder = TemporaryFolder()
        let id = CallIdentifier(high: 1, low: 1).description
        try Self.writeEarlierLedger(in: folder.path, call: id)
        let database = try HeraldDatabase(folder: folder.path)
        let due = try await EventOutboxStore(database, clock: QueueClock { 0 }).dueEvents(limit: 9, now: now)
        #expect(due.map(\.event.key) == ["missed:\(id)"])
        #expect(try LedgerReader(database.ledger).calls(limit: 9).map(\.customer) == [nil])
    }

    private static func writeEarlierLedger(in folder: String, call: String) throws {
        let ledger = try DatabaseQueue(path: HeraldDatabase.ledgerPath(in: folder))
        try ledger.write { try $0.execute(sql: Version020.ledger) }
        try ledger.write { database in
            try database.execute(
                sql: """
                    INSERT INTO call (id, call_id, sip_call_id, direction, decision, invite_at)
                    VALUES (1, :call, 'a@x', 1, 'matched', 1767225600000000);
                    INSERT INTO event (id, key, number, surface, displayed_at, meta, created_at, due_at)
                    VALUES (1, 'missed:' || :call, '+4930123456', 'sip', '2026-01-01T00:00:01Z', '{}', 1767225631, 0);
                    """, arguments: ["call": call])
        }
        try ledger.close()
    }
}
