// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("INVITE client transaction, RFC 3261 §17.1.1 and RFC 6026 §7.2")
struct InviteClientTransactionTests {
    typealias Machine = InviteClientTransaction

    static let calling: TimerSet = [TimerSet(.a), TimerSet(.b), TimerSet(.c)]
    static let proceeding: TimerSet = [TimerSet(.c), TimerSet(.cancelWait)]

    static let paths: [Machine.State: [ClientTransactionEvent]] = [
        .calling: [],
        .proceeding: [.response(180)],
        .completed: [.response(486)],
        .accepted: [.response(200)],
        .terminated: [.fired(.b)],
    ]

    static let table: [TransactionRow<Machine>] = [
        TransactionRow(
            "§17.1.1.2: a 100 stops A and B; §16.7 step 2: it does not reset C",
            .calling, .response(100), .proceeding, [.stop([TimerSet(.a), TimerSet(.b)]), .deliverResponse]),
        TransactionRow(
            "§17.1.1.2: a provisional response stops A and B; §16.7 step 2: 101 to 199 reset C",
            .calling, .response(180), .proceeding,
            [.stop([TimerSet(.a), TimerSet(.b)]), .start(.c, after: .seconds(181)), .deliverResponse]),
        TransactionRow(
            "RFC 6026 §7.2: a 2xx in Calling is passed up, Accepted, timer M",
            .calling, .response(200), .accepted, [.stop(calling), .deliverResponse, .start(.m, after: timeout64)]),
        TransactionRow(
            "§17.1.1.2: 300 to 699 in Calling is acknowledged and passed up, Completed, timer D",
            .calling, .response(486), .completed,
            [.stop(calling), .sendAck, .deliverResponse, .start(.d, after: .seconds(32))]),
        TransactionRow(
            "§9.1: a CANCEL must wait for a provisional response",
            .calling, .cancel, .calling),
        TransactionRow(
            "§17.1.1.2: timer A resends and doubles",
            .calling, .fired(.a), .calling, [.resendRequest, .start(.a, after: .seconds(1))]),
        TransactionRow(
            "§17.1.1.2: timer B in Calling is a timeout",
            .calling, .fired(.b), .terminated, [.timeout, .terminate]),
        TransactionRow(
            "§16.8: timer C with no provisional response counts as a 408",
            .calling, .fired(.c), .terminated, [.timeout, .terminate]),
        TransactionRow(
            "§17.1.4: a transport failure in Calling is told to the core and ends it",
            .calling, .transportFailed, .terminated, [.transportFailed, .terminate]),
        TransactionRow(
            "§17.1.1.2: any further provisional response is passed up",
            .proceeding, .response(100), .proceeding, [.deliverResponse]),
        TransactionRow(
            "§16.7 step 2: every response from 101 to 199 resets C",
            .proceeding, .response(180), .proceeding, [.start(.c, after: .seconds(181)), .deliverResponse]),
        TransactionRow(
            "RFC 6026 §7.2: a 2xx in Proceeding is passed up, Accepted, timer M",
            .proceeding, .response(200), .accepted,
            [.stop(proceeding), .deliverResponse, .start(.m, after: timeout64)]),
        TransactionRow(
            "§17.1.1.2: 300 to 699 in Proceeding is acknowledged and passed up, Completed, timer D",
            .proceeding, .response(486), .completed,
            [.stop(proceeding), .sendAck, .deliverResponse, .start(.d, after: .seconds(32))]),
        TransactionRow(
            "§9.1: after a provisional response a CANCEL goes out at once",
            .proceeding, .cancel, .proceeding,
            [.stop(TimerSet(.c)), .sendCancel, .start(.cancelWait, after: timeout64)]),
        TransactionRow(
            "§16.8: timer C after a provisional response sends a CANCEL",
            .proceeding, .fired(.c), .proceeding,
            [.stop(TimerSet(.c)), .sendCancel, .start(.cancelWait, after: timeout64)]),
        TransactionRow(
            "§9.1: no final response 64 × T1 after the CANCEL ends the transaction",
            .proceeding, .fired(.cancelWait), .terminated, [.timeout, .terminate]),
        TransactionRow(
            "§17.1.1.2: a final response that comes again is acknowledged again and not passed up",
            .completed, .response(486), .completed, [.sendAck]),
        TransactionRow(
            "§16.7 step 5: a 2xx reaches the core even after a failure from the same target",
            .completed, .response(200), .completed, [.deliverResponse]),
        TransactionRow(
            "§17.1.1.2: a late provisional response is absorbed",
            .completed, .response(180), .completed),
        TransactionRow(
            "§17.1.1.2: timer D ends the transaction",
            .completed, .fired(.d), .terminated, [.terminate]),
        TransactionRow(
            "§17.1.1.2: an ACK that cannot be sent is told to the core and ends it",
            .completed, .transportFailed, .terminated, [.transportFailed, .terminate]),
        TransactionRow(
            "§9.1: a CANCEL after a final response has no effect",
            .completed, .cancel, .completed),
        TransactionRow(
            "RFC 6026 §7.2: every 2xx is passed up, resent or from another branch",
            .accepted, .response(200), .accepted, [.deliverResponse]),
        TransactionRow(
            "RFC 6026 §7.2: nothing but 2xx counts in Accepted",
            .accepted, .response(486), .accepted),
        TransactionRow(
            "RFC 6026 §7.2: timer M ends the transaction",
            .accepted, .fired(.m), .terminated, [.terminate]),
        TransactionRow(
            "§9.1: a CANCEL after a 2xx has no effect",
            .accepted, .cancel, .accepted),
    ]

    @Test(arguments: table)
    func `a state does with an event what the RFC says`(row: TransactionRow<Machine>) throws {
        try row.check(after: Self.paths[row.state])
    }

    @Test(arguments: [false, true])
    func `everything the table does not name is absorbed`(isReliable: Bool) {
        expectRestAbsorbed(Self.table, paths: Self.paths, events: allClientEvents, isReliable: isReliable)
    }

    @Test func `the INVITE goes out with timers A, B and C`() {
        var machine = Machine(timers: .standard, isReliable: false)
        #expect(
            Array(machine.start()) == [
                .sendRequest, .start(.a, after: .milliseconds(500)), .start(.b, after: timeout64),
                .start(.c, after: .seconds(181)),
            ])
        #expect(machine.state == .calling)
    }

    @Test func `over a reliable transport there is no timer A`() {
        var machine = Machine(timers: .standard, isReliable: true)
        #expect(
            Array(machine.start()) == [.sendRequest, .start(.b, after: timeout64), .start(.c, after: .seconds(181))])
    }

    @Test func `over a reliable transport a failure ends the transaction at once`() {
        var machine = Machine.after([.response(180)], isReliable: true)
        #expect(
            machine.effects(of: .response(486)) == [.stop(Self.proceeding), .sendAck, .deliverResponse, .terminate])
        #expect(machine.state == .terminated)
    }

    @Test func `timer A doubles without a cap, so seven INVITEs go out before timer B`() {
        var machine = Machine.after([])
        var sentAt = TimerDelay.milliseconds(500)
        var times: [TimerDelay] = []
        while sentAt < timeout64 {
            times.append(sentAt)
            guard case .start(.a, let interval) = machine.effects(of: .fired(.a)).last else { break }
            sentAt = sentAt + interval
        }
        #expect(times == [500, 1500, 3500, 7500, 15_500, 31_500].map { .milliseconds($0) })
        #expect(machine.effects(of: .fired(.b)) == [.timeout, .terminate])
    }

    @Test func `timer A never overflows, whatever its owner fires`() {
        var machine = Machine.after(Array(repeating: .fired(.a), count: 1000))
        #expect(machine.effects(of: .fired(.a)).count == 2)
    }
}

@Suite("Cancelling an INVITE, RFC 3261 §9.1, §16.8 and §16.10")
struct InviteCancellationTests {
    typealias Machine = InviteClientTransaction

    @Test func `a CANCEL before any provisional response leaves with the first one`() {
        var machine = Machine.after([.cancel])
        #expect(machine.isCancelled)
        #expect(
            machine.effects(of: .response(100)) == [
                .stop(InviteClientTransactionTests.calling), .sendCancel, .start(.cancelWait, after: timeout64),
                .deliverResponse,
            ])
        #expect(machine.effects(of: .response(180)) == [.deliverResponse])
    }

    @Test func `while the CANCEL waits the INVITE is still resent and still times out`() {
        var machine = Machine.after([.cancel])
        #expect(machine.effects(of: .fired(.a)) == [.resendRequest, .start(.a, after: .seconds(1))])
        #expect(machine.effects(of: .fired(.b)) == [.timeout, .terminate])
    }

    @Test func `a silent target is waited for in full once the call is cancelled: no other is tried, and it may ring`()
    {
        var machine = Machine(timers: .standard, isReliable: false, patience: .seconds(4))
        _ = machine.start()
        #expect(machine.effects(of: .cancel) == [.start(.b, after: timeout64)])
        #expect(machine.effects(of: .cancel).isEmpty)
        #expect(machine.effects(of: .response(180)).contains(.sendCancel))
    }

    @Test(arguments: [200, 486])
    func `a final response as the first response leaves nothing to cancel`(status: Int) {
        var machine = Machine.after([.cancel])
        #expect(!machine.effects(of: .response(status)).contains(.sendCancel))
        #expect(machine.effects(of: .cancel).isEmpty)
    }

    @Test func `a second CANCEL sends nothing`() {
        var machine = Machine.after([.response(180), .cancel])
        #expect(machine.effects(of: .cancel).isEmpty)
        #expect(machine.effects(of: .fired(.c)).isEmpty)
    }

    @Test func `a CANCEL repeated before the provisional response leaves once`() {
        var machine = Machine.after([.cancel, .cancel])
        #expect(machine.effects(of: .response(180)).count { $0 == .sendCancel } == 1)
        #expect(machine.effects(of: .cancel).isEmpty)
    }

    @Test func `the 487 of a cancelled INVITE is acknowledged and passed up`() {
        var machine = Machine.after([.response(180), .cancel])
        #expect(
            machine.effects(of: .response(487)) == [
                .stop(InviteClientTransactionTests.proceeding), .sendAck, .deliverResponse,
                .start(.d, after: .seconds(32)),
            ])
        #expect(machine.effects(of: .fired(.cancelWait)).isEmpty)
    }

    @Test func `a 200 that crosses the CANCEL is passed up`() {
        var machine = Machine.after([.response(180), .cancel])
        #expect(machine.effects(of: .response(200)).contains(.deliverResponse))
        #expect(machine.state == .accepted)
        #expect(machine.effects(of: .response(487)).isEmpty)
    }

    @Test func `ringing after the CANCEL does not restart timer C`() {
        var machine = Machine.after([.response(180), .cancel])
        #expect(machine.effects(of: .response(183)) == [.deliverResponse])
    }

    @Test func `timer C marks the INVITE as cancelled and waits for its final response`() {
        var machine = Machine.after([.response(180), .fired(.c)])
        #expect(machine.isCancelled)
        #expect(machine.state == .proceeding)
        #expect(machine.effects(of: .fired(.cancelWait)) == [.timeout, .terminate])
    }

    @Test func `a 2xx after the end is no longer the machine's business`() {
        var machine = Machine.after([.response(180), .cancel, .fired(.cancelWait)])
        #expect(machine.effects(of: .response(200)).isEmpty)
        #expect(machine.state == .terminated)
    }
}
