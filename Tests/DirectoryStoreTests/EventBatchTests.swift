// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import PostgreSQL
import SeededRandom
import TestFixtures
import Testing

@testable import DirectoryStore

/// Events of many requests share a transaction; each gets the decision that it would get alone.
@Suite("Events of many requests at once", .timeLimit(.minutes(8)), .bothEngines)
struct EventBatchTests {
    private static let now = ManualTime.start
    private static let (active, removed, held, unknown) = (
        "+61491570156", "+61491570157", "+61491570158", "+61491570159"
    )

    /// A database with four accounts: one without limits, one near its cap, one suspended, one at its daily limit.
    private struct Accounts {
        let database: DirectoryDatabase
        private let names: [AccountID]

        init() throws {
            let database = try Engine.open(TemporaryFolder().path)
            self.database = database
            names = [.first] + (try ["capped", "suspended", "limited"].map { try Self.add($0, to: database) })
            for account in names { try Self.fill(account, database) }
            var change = AccountStore.Change()
            change.cap = 7
            try AccountStore(database, account: names[1]).change(change)
            change = AccountStore.Change()
            change.status = "suspended"
            try AccountStore(database, account: names[2]).change(change)
            try DebugRequests(database, account: names[3]).request(device: "phone", expires: EventBatchTests.now + 60)
        }

        private static func add(_ name: String, to database: DirectoryDatabase) throws -> AccountID {
            try AccountList(database).create(name: name, now: 1)
        }

        private static func fill(_ account: AccountID, _ database: DirectoryDatabase) throws {
            let entries = BrandEntries(database, account: account)
            _ = try entries.put(try [active, removed].map { try entry($0) }, now: 1)
            _ = try entries.deactivate(try #require(E164Number(removed)), now: EventBatchTests.now - 100)
            var brand = BrandList.Change()
            (brand.name, brand.owner) = ("Held", .suspended)
            let brands = BrandList(database, account: account)
            try brands.create(id: "held", brand, now: 1)
            try BrandNumbers(database, account: account).set(
                try #require(E164Number(held)), brandID: "held", reason: nil, now: 1)
            _ = try brands.change("held", brand, now: 2)
        }

        func part(_ place: Int, _ events: [ReportedEvent]) -> EventBatch.Part {
            EventBatch.Part(
                events: events, account: names[place], limit: place == 3 ? 5_000 : 0, now: EventBatchTests.now)
        }

        /// The rows that events have changed, without the identifiers of the events.
        func content() throws -> [String] {
            try database.pool.read { database in
                try [
                    "SELECT account, month, sum(counted) FROM month_usage GROUP BY 1, 2 ORDER BY 1, 2",
                    "SELECT account, day, sum(bytes) FROM day_stored GROUP BY 1, 2 ORDER BY 1, 2",
                    """
                    SELECT account, day, brand_id, outcome, reason, sum(events) FROM day_outcome
                    GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
                    """,
                    """
                    SELECT account, event_key, number, outcome, displayed_at, counted, reason, warning FROM event
                    ORDER BY id
                    """,
                ].flatMap {
                    try database.rows($0).map { row in
                        (0..<row.count).map { row.printed($0) ?? "-" }.joined(separator: " ")
                    }
                }
            }
        }
    }

    private static func event(_ random: inout RepeatableRandom) -> ReportedEvent {
        let keys = [nil] + (0..<25).map { "key \($0)" } + ["e\u{301}", "\u{e9}"]
        let times = [
            nil, "2025-12-31T23:00:00Z", "2026-01-01T00:00:00Z", "2025-12-20T00:00:00Z", "2031-01-01T00:00:00Z",
        ]
        let event = EventRequest(
            phoneNumber: [active, active, active, removed, held, unknown].randomElement(using: &random) ?? active,
            outcome: ["displayed", "displayed", "displayed", "missed"].randomElement(using: &random) ?? "displayed",
            deviceID: ["phone", "other"].randomElement(using: &random),
            displayedAt: times.randomElement(using: &random) ?? nil,
            eventKey: keys.randomElement(using: &random) ?? nil)
        return ReportedEvent(
            event, warning: Int.random(in: 0..<12, using: &random) == 0 ? "invalid_surface" : nil)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `the decision on an event does not depend on those beside it`(seed: UInt64) throws {
        let (together, alone) = (try Accounts(), try Accounts())
        var random = RepeatableRandom(seed: seed)
        for _ in 0..<3 {
            let requests = (0..<20).map { _ in
                (
                    account: Int.random(in: 0..<4, using: &random),
                    events: (0..<Int.random(in: 1...6, using: &random)).map { _ in Self.event(&random) }
                )
            }
            let responses = try together.database.pool.write(.locked) { database in
                try EventBatch.Part.run(requests.map { together.part($0.account, $0.events) }, database)
            }
            for (request, responses) in zip(requests, responses) {
                #expect(responses.count == request.events.count)
                for (event, response) in zip(request.events, responses) {
                    var expected = try alone.database.pool.write(.locked) { database in
                        try EventBatch.Part.run([alone.part(request.account, [event])], database)[0][0]
                    }
                    expected.eventID = response.eventID
                    expected.config?.clientID = response.config?.clientID
                    #expect(response == expected, "\(request.account) \(event)")
                }
            }
        }
        #expect(try together.content() == alone.content())
    }
}

@Suite("An event that two programs store at once", .timeLimit(.minutes(8)), .onServer)
struct EventConflictTests {
    @Test func `it is one event, and those beside it count`() async throws {
        let url = try Engine.newURL()
        let database = try DirectoryDatabase(server: DatabaseServer(url: url), folder: TemporaryFolder().path)
        _ = try BrandEntries(database).put([entry("+61491570156")], now: 1)
        let other = PostgreSQLSession(try PostgreSQLAddress(url))
        let process = try #require(try other.execute("SELECT pg_backend_pid()").first?.integer(0))
        try other.script(
            """
            BEGIN;
            INSERT INTO event (account, event_id, event_key, number, outcome, displayed_at, counted, received)
            VALUES (1, 'first', 'key 1', '+61491570156', 'displayed', '2026-01-01T00:00:00Z', true, 1)
            """)
        let events = (0..<3).map { number in
            ReportedEvent(EventRequest(phoneNumber: "+61491570156", outcome: "displayed", eventKey: "key \(number)"))
        }
        async let recorded = EventLedger(database).record(events, now: ManualTime.start)
        let watch = PostgreSQLSession(try PostgreSQLAddress(url))
        #expect(
            try await waits {
                let blocked = "SELECT 1 FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))"
                return (try? watch.execute(blocked, [.integer(process)]).first) != nil
            })
        try other.script("COMMIT")
        let responses = try await recorded
        #expect(responses[1].eventID == "first")
        #expect(responses.allSatisfy { $0.counted == true })
        #expect(responses.map(\.config?.usedThisMonth) == [1, 1, 2])
        #expect(try EventLedger(database).page(.init(), limit: 9).events.count == 3)
    }
}
