// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Synchronization
import Testing

@testable import SIPTransport

@Suite("What streams brought and a worker has not handled")
struct StreamBacklogTests {
    private func message(_ bytes: Int, _ number: UInt8 = 0) -> StreamArrival {
        .message(
            [UInt8](repeating: number, count: bytes)[...],
            Flow(source: UDPSocketTests.loopback, socket: 0, connection: 1))
    }

    /// The first byte of each message of a turn.
    private func round(_ backlog: inout StreamBacklog) -> [UInt8] {
        var numbers: [UInt8] = []
        backlog.takeRound { if case .message(let bytes, _) = $0 { numbers += bytes.prefix(1) } }
        return numbers
    }

    @Test func `messages are taken in their order, some at a time, and what comes meanwhile is behind them`() {
        let inbox = StreamInbox {}
        var backlog = StreamBacklog(of: inbox)
        #expect(inbox.offer((0..<40).map { message(10, $0) }))
        backlog.renew()
        #expect(round(&backlog) == Array(0..<UInt8(StreamBacklog.round)))
        #expect(inbox.offer([message(10, 99)]))
        backlog.renew()
        #expect(round(&backlog) == Array(UInt8(StreamBacklog.round)..<40))
        #expect(backlog.isEmpty)
        backlog.renew()
        #expect(round(&backlog) == [99])
        #expect(inbox.waitingBytes == 0)
    }

    @Test func `what was taken counts as waiting until its round is over`() {
        let inbox = StreamInbox {}
        var backlog = StreamBacklog(of: inbox)
        let each = StreamBacklog.fullBytes / (4 * StreamBacklog.round)
        #expect(inbox.offer((0..<4 * StreamBacklog.round).map { _ in message(each) }))
        for share in [1, 0.75, 0.5, 0.25, 0] {
            backlog.renew()
            #expect(abs(backlog.filling - share) < 0.001)
            _ = round(&backlog)
        }
    }

    @Test func `as much as a round may leave is no queue, and more than it holds is more than full`() {
        let inbox = StreamInbox {}
        let backlog = StreamBacklog(of: inbox)
        #expect(inbox.offer([message(StreamBacklog.emptyBytes)]))
        #expect(backlog.filling == 0)
        #expect(inbox.offer([message(StreamBacklog.fullBytes)]))
        #expect(backlog.filling > 1)
    }

    @Test func `messages there is no room for are refused as a whole until there is`() {
        let inbox = StreamInbox(mostBytes: 100) {}
        var backlog = StreamBacklog(of: inbox)
        #expect(inbox.offer([message(60, 1)]))
        #expect(!inbox.offer([message(30, 2), message(30, 3)]))
        backlog.renew()
        #expect(!inbox.offer([message(30, 2), message(30, 3)]), "taken is not handled")
        #expect(round(&backlog) == [1])
        #expect(inbox.offer([message(300, 2), message(30, 3)]), "an empty one takes a message of any length")
        backlog.renew()
        #expect(round(&backlog) == [2, 3])
    }

    @Test func `the worker is woken for the first of what waits, not for each`() {
        let wakes = Observed()
        let inbox = StreamInbox { wakes.timers.add(1, ordering: .relaxed) }
        var backlog = StreamBacklog(of: inbox)
        #expect(inbox.offer([message(1), message(1)]))
        inbox.reportFailure(token: DeliveryToken(branch: Branch(token: 1), attempt: 0))
        #expect(inbox.offer([message(1)]))
        #expect(wakes.timers.load(ordering: .relaxed) == 1)
        backlog.renew()
        #expect(inbox.offer([message(1)]))
        #expect(wakes.timers.load(ordering: .relaxed) == 2)
    }
}
