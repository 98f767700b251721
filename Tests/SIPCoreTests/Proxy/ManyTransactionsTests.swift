// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import SIPCore

@Suite("Proxy transactions: many of them hold up no message")
struct ManyTransactionsTests {
    private let request: SIPMessage
    private let start = Moment(milliseconds: 1_000_000, wallMicroseconds: 0)

    init() throws { request = try WireMessage.message(WireMessage.invite([])) }

    private func transaction(_ branch: Branch) -> ProxyTransaction<Void> {
        ProxyTransaction<Void>(
            branch: branch, request: request, flow: Flow(source: ProxyRun.source, socket: 0),
            payload: RouteCookie.Payload(mark: 0), ownerState: (), originalFrom: [])
    }

    /// A table of calls that have all been refused upstream at the same time and wait for their ACK.
    private func refusedCalls(_ count: UInt64) -> ProxyTransactions<PassingUser> {
        let table = ProxyTransactions<PassingUser>(timers: .standard, capacity: 1_000, now: start)
        for number in 0..<count {
            let transaction = transaction(Branch(token: number))
            table.open(transaction, at: start)
            table.respond(404, request.bytes, in: transaction, at: start)
        }
        table.outgoing = []
        return table
    }

    @Test func `timers that run out together let messages in between`() {
        let table = refusedCalls(300)
        // RFC 3261 §17.2.1: each refusal is sent again after T1.
        let due = Moment(milliseconds: start.milliseconds + 500, wallMicroseconds: 0)
        var rounds: [Int] = []
        while let deadline = table.nextDeadline, deadline <= due.milliseconds {
            table.fireTimers(at: due)
            rounds.append(table.outgoing.count)
            table.outgoing = []
        }
        #expect(rounds.reduce(0, +) == 300)
        #expect(rounds.count > 1)
        #expect((rounds.max() ?? 0) <= 128)
    }

    @Test func `a table in parts is one table`() {
        var random = RepeatableRandom(seed: 3)
        var table = BranchTable<Void>()
        var expected: [Branch: ProxyTransaction<Void>] = [:]
        let branches = (0..<1_000).map { _ in Branch(token: random.next()) }
        for _ in 0..<10_000 {
            let branch = branches[Int(random.next() % 1_000)]
            let value = random.next() % 3 == 0 ? nil : transaction(branch)
            table[branch] = value
            expected[branch] = value
        }
        #expect(table.count == expected.count)
        for branch in branches { #expect(table[branch] === expected[branch]) }
        for branch in branches { table[branch] = nil }
        #expect(table.count == 0)
    }
}
