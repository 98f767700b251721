// SPDX-License-Identifier: Apache-2.0

import GRDB
import GatewayStore
import Synchronization
import Testing

@testable import GatewayOperator

@Suite("Reads of the ledger for pages", .timeLimit(.minutes(8)))
struct LedgerQueueTests {
    /// Searches that have ended.
    private final class Ended: Sendable { let count = Mutex(0) }

    private let calls: EndedCalls
    private let queue: LedgerQueue

    init() throws {
        calls = try EndedCalls()
        try calls.end(3)
        queue = LedgerQueue(LedgerReader(calls.database))
    }

    /// Makes a search read many pieces, all empty but the last one.
    private func spread() throws {
        try calls.database.ledger.write { database in
            try database.execute(sql: "UPDATE call SET id = 2000000000 WHERE id = (SELECT max(id) FROM call)")
        }
    }

    @Test func `another page is read between the pieces of long searches`() async throws {
        try spread()
        let ended = Ended()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...3 {
                group.addTask { [queue, ended] in
                    var filter = CallFilter()
                    filter.decisions = ["stale"]
                    let found = try await queue.search(filter, limit: 50, patience: .seconds(3_600))
                    #expect(found.calls.isEmpty && found.rest != nil, "the search read the whole ledger")
                    ended.count.withLock { $0 += 1 }
                }
            }
            // Behind the first pieces of the searches.
            for _ in 1...10 { _ = try await queue.read { try $0.clockState() } }
            #expect(ended.count.withLock { $0 } == 0)
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `a search and its counts are those of one reading`() async throws {
        var filter = CallFilter()
        filter.outcome = "MISSED"
        let reader = LedgerReader(calls.database)
        let found = try await queue.search(filter, limit: 2, patience: .seconds(60))
        #expect(found == (try reader.search(filter, limit: 2)) && found.calls.count == 2)
        let counts = try await queue.counts(matching: filter, patience: .seconds(60))
        #expect(counts == (try reader.counts(matching: filter)) && counts.rest == nil)
    }

    @Test func `a search goes on where its time has ended`() async throws {
        try spread()
        let first = try await queue.search(CallFilter(), limit: 50, patience: .zero)
        #expect(first.calls.count == 1)
        let rest = try #require(first.rest)
        var filter = CallFilter()
        filter.before = rest.before
        #expect(try await queue.search(filter, limit: 50, patience: .zero).rest != nil)
        let all = try await queue.counts(matching: CallFilter(), patience: .zero)
        #expect(all.rest == rest)
    }
}
