// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import GatewayCluster
import GatewayStore
import Logging
import PostgreSQL
import PostgreSQLTesting
import Synchronization
import TestFixtures
import Testing

/// Requirements: PostgreSQL away is a longer queue and a visible lag, and nothing is lost or doubled.
@Suite("Shared ledger during outages")
struct LedgerSharingTests {
    private static func sharing(
        _ address: PostgreSQLAddress, _ ledger: LocalLedger, steady: @escaping @Sendable () -> Int64
    ) -> LedgerSharing {
        LedgerSharing(
            .init(address: address, name: "a", version: "test", retentionDays: 90), ledger.changes,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, steady: steady)
    }

    /// Rows of a table, with a condition or without.
    private static func count(_ rows: String, _ server: ThrowawayServer) throws -> Int64? {
        try PostgreSQLSession(server.address()).execute("SELECT count(*) FROM \(rows)").first?.integer(0)
    }

    @Test func `sixty seconds without PostgreSQL are sixty seconds of lag, and no change is lost`() async throws {
        let (ledger, server) = (try LocalLedger(), try ThrowawayServer())
        let time = SharedClock()
        let sharing = Self.sharing(try server.address(), ledger, steady: { time.now })
        let running = Task { await sharing.run() }
        try ledger.begin(1)
        await until { sharing.standing.rows == 1 && sharing.standing.behind == 0 }

        try server.perform(.kill)
        try ledger.end(1)
        await until { sharing.standing.problem != nil && sharing.standing.waiting == 2 }
        time.advance(60)
        let outage = sharing.standing
        #expect(outage.behind >= 60)
        #expect(outage.failures > 0)
        #expect(outage.problem?.contains("PostgreSQL at") == true)

        try server.perform(.start)
        await until { sharing.standing.behind == 0 && sharing.standing.problem == nil }
        #expect(sharing.standing.waiting == 0)
        #expect(try Self.count("ledger.call WHERE outcome = 'ANSWERED'", server) == 1)
        #expect(try Self.count("ledger.event", server) == 1)
        running.cancel()
        await running.value
    }

    @Test func `a server that is killed five times under load has every call once`() async throws {
        let (ledger, server) = (try LocalLedger(), try ThrowawayServer(["--durable"]))
        let sharing = Self.sharing(try server.address(), ledger, steady: { SharedClock.real })
        let running = Task { await sharing.run() }
        for kill in Int64(0)..<5 {
            for id in (kill * 200 + 1)...(kill * 200 + 200) {
                try ledger.begin(id)
                if id % 2 == 0 { try ledger.end(id) }
            }
            try server.perform(.kill)
            for id in (kill * 200 + 1)...(kill * 200 + 200) where id % 2 == 1 { try ledger.end(id) }
            try server.perform(.start)
        }
        await until {
            sharing.standing.problem == nil && sharing.standing.behind == 0
                && sharing.standing.waiting == 0
        }
        running.cancel()
        await running.value
        #expect(try Self.count("ledger.call", server) == 1_000)
        #expect(try Self.count("(SELECT DISTINCT call_id FROM ledger.call) AS calls", server) == 1_000, "each once")
        #expect(
            try Self.count("ledger.call WHERE ended_at IS NULL OR outcome IS NULL", server) == 0, "each with its end")
        #expect(try Self.count("ledger.event", server) == 1_000)
    }

    @Test func `a stored row is shipped without a wait for the next round`() async throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        let sharing = LedgerSharing(
            .init(address: shared.address, name: "a", version: "test", retentionDays: 90), ledger.changes,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, pause: .seconds(3_600))
        try ledger.begin(1)
        let running = Task { await sharing.run() }
        // A server with too many connections refuses the first rounds.
        await until {
            sharing.haveStored()
            return sharing.standing.rows == 1
        }
        try ledger.begin(2)
        await until {
            sharing.haveStored()
            return sharing.standing.rows == 2
        }
        running.cancel()
        await running.value
    }

    @Test func `the last changes are shipped when the gateway stops`() async throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        let sharing = Self.sharing(shared.address, ledger, steady: { SharedClock.real })
        let running = Task { await sharing.run() }
        await until { sharing.standing.behind == 0 }
        try ledger.begin(1)
        running.cancel()
        await running.value
        #expect(try shared.calls().map(\.row) == [1])
    }

    @Test func `a stop does not wait for a backlog`() async throws {
        let (backlog, shared, time) = (EndlessChanges(), try SharedDatabase(), SharedClock())
        // Each look at the clock takes a second.
        let sharing = LedgerSharing(
            .init(address: shared.address, name: "a", version: "test", retentionDays: 90), backlog,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            steady: {
                time.advance(1)
                return time.now
            })
        let running = Task { await sharing.run() }
        await until { backlog.asked > 0 }
        running.cancel()
        await running.value
        #expect(backlog.asked > 0, "it has shipped, and ended all the same")
    }

    @Test func `a round that takes long is a lag`() async throws {
        let (backlog, shared, time) = (EndlessChanges(), try SharedDatabase(), SharedClock())
        backlog.isOver.store(true, ordering: .relaxed)
        let sharing = LedgerSharing(
            .init(address: shared.address, name: "a", version: "test", retentionDays: 90), backlog,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, steady: { time.now })
        let running = Task { await sharing.run() }
        await until { backlog.asked > 1 }
        backlog.isOver.store(false, ordering: .relaxed)
        let asked = backlog.asked
        await until { backlog.asked > asked + 2 }
        time.advance(60)
        #expect(sharing.standing.behind >= 60)
        backlog.isOver.store(true, ordering: .relaxed)
        await until { sharing.standing.behind == 0 }
        running.cancel()
        await running.value
    }

    @Test func `a server that never was there stops neither start nor end of the gateway`() async throws {
        let ledger = try LocalLedger()
        let sharing = Self.sharing(
            try PostgreSQLAddress("postgres://herald@127.0.0.1:9/herald"), ledger, steady: { SharedClock.real })
        let running = Task { await sharing.run() }
        await until { sharing.standing.problem != nil }
        #expect(sharing.standing.problem?.contains("see whether the server runs") == true)
        running.cancel()
        await running.value
    }
}

/// A ledger whose changes end at a word.
private final class EndlessChanges: SharedChangeSource {
    /// True for a source that has given all of its changes.
    let isOver = Atomic<Bool>(false)
    private let count = Atomic<Int>(0)

    var asked: Int { count.load(ordering: .relaxed) }

    func origin() -> SharedOrigin { SharedOrigin(ledger: 1, opening: 1) }
    func lastKnown() -> Int64 { .max }
    func confirm(_: SharedOrigin) {}
    func beginAnew(after _: Int64) {}
    func changes(after position: Int64, limit _: Int) -> SharedChanges {
        count.add(1, ordering: .relaxed)
        return SharedChanges(
            origin: origin(), through: position + 1, isLast: isOver.load(ordering: .relaxed), rows: [])
    }
    func forget(through _: Int64) {}
    func waiting(after _: Int64) -> Int { 1 }
}

/// A monotonic clock that a test moves ahead.
private final class SharedClock: Sendable {
    private let offset = Atomic<Int64>(0)

    static var real: Int64 { Int64(ContinuousClock.now.duration(to: start) / .microseconds(-1)) }
    private static let start = ContinuousClock.now

    var now: Int64 { Self.real + offset.load(ordering: .relaxed) }

    func advance(_ seconds: Int64) { offset.add(seconds * 1_000_000, ordering: .relaxed) }
}
