// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("INVITE server transaction, RFC 3261 §17.2.1 and RFC 6026 §7.1")
struct InviteServerTransactionTests {
    typealias Machine = InviteServerTransaction

    static let paths: [Machine.State: [ServerTransactionEvent]] = [
        .proceeding: [],
        .completed: [.respond(486)],
        .accepted: [.respond(200)],
        .confirmed: [.respond(486), .ack],
        .terminated: [.respond(200), .fired(.l)],
    ]

    static let table: [TransactionRow<Machine>] = [
        TransactionRow(
            "§17.2.1: a resent INVITE gets the last provisional response again",
            .proceeding, .request, .proceeding, [.resendResponse]),
        TransactionRow(
            "§17.2.1: a 100 of the core goes out and nothing moves",
            .proceeding, .respond(100), .proceeding, [.sendResponse]),
        TransactionRow(
            "§17.2.1: any number of provisional responses pass",
            .proceeding, .respond(180), .proceeding, [.sendResponse]),
        TransactionRow(
            "RFC 6026 §7.1: a 2xx goes out, Accepted, timer L",
            .proceeding, .respond(200), .accepted, [.sendResponse, .start(.l, after: timeout64)]),
        TransactionRow(
            "§17.2.1: 300 to 699 goes out, Completed, timers G and H",
            .proceeding, .respond(486), .completed,
            [.sendResponse, .start(.g, after: .milliseconds(500)), .start(.h, after: timeout64)]),
        TransactionRow(
            "§17.2.1: a 408 is a final response as any other",
            .proceeding, .respond(408), .completed,
            [.sendResponse, .start(.g, after: .milliseconds(500)), .start(.h, after: timeout64)]),
        TransactionRow(
            "RFC 6026 §7.1: a transport failure is told and the state stays",
            .proceeding, .transportFailed, .proceeding, [.transportFailed]),
        TransactionRow(
            "§17.2.1: a resent INVITE gets the final response again",
            .completed, .request, .completed, [.resendResponse]),
        TransactionRow(
            "§17.2.1: the ACK stops the resending, Confirmed, timer I",
            .completed, .ack, .confirmed,
            [.stop([TimerSet(.g), TimerSet(.h)]), .start(.i, after: .seconds(5))]),
        TransactionRow(
            "§17.2.1: timer G resends the final response and doubles",
            .completed, .fired(.g), .completed, [.resendResponse, .start(.g, after: .seconds(1))]),
        TransactionRow(
            "§17.2.1: timer H without an ACK is told to the core and ends it",
            .completed, .fired(.h), .terminated, [.timeout, .terminate]),
        TransactionRow(
            "RFC 6026 §7.1: a transport failure does not discard the state",
            .completed, .transportFailed, .completed, [.transportFailed]),
        TransactionRow(
            "§17.2.1: any other final response of the core is discarded in Completed",
            .completed, .respond(200), .completed),
        TransactionRow(
            "RFC 6026 §7.1: a resent INVITE is absorbed, the callee resends its 2xx itself",
            .accepted, .request, .accepted),
        TransactionRow(
            "RFC 6026 §7.1: an ACK in Accepted goes to the core",
            .accepted, .ack, .accepted, [.deliverAck]),
        TransactionRow(
            "RFC 6026 §7.1: further 2xx of the core go out",
            .accepted, .respond(200), .accepted, [.sendResponse]),
        TransactionRow(
            "RFC 6026 §7.1: a failure after a 2xx has nowhere to go",
            .accepted, .respond(486), .accepted),
        TransactionRow(
            "RFC 6026 §7.1: timer L ends the transaction",
            .accepted, .fired(.l), .terminated, [.terminate]),
        TransactionRow(
            "RFC 6026 §7.1: a transport failure in Accepted is told and the state stays",
            .accepted, .transportFailed, .accepted, [.transportFailed]),
        TransactionRow("§17.2.1: Confirmed absorbs repeated ACKs", .confirmed, .ack, .confirmed),
        TransactionRow("§17.2.1: Confirmed absorbs late INVITEs", .confirmed, .request, .confirmed),
        TransactionRow("§17.2.1: timer I ends the transaction", .confirmed, .fired(.i), .terminated, [.terminate]),
    ]

    @Test(arguments: table)
    func `a state does with an event what the RFC says`(row: TransactionRow<Machine>) throws {
        try row.check(after: Self.paths[row.state])
    }

    @Test(arguments: [false, true])
    func `everything the table does not name is absorbed`(isReliable: Bool) {
        expectRestAbsorbed(Self.table, paths: Self.paths, events: allServerEvents, isReliable: isReliable)
    }

    @Test func `the INVITE is handed up and gets 100`() {
        var machine = Machine(timers: .standard, isReliable: false)
        #expect(Array(machine.start()) == [.deliverRequest, .sendTrying])
        #expect(machine.state == .proceeding)
    }

    @Test func `timer G doubles from T1 and is capped at T2 until timer H`() {
        var machine = Machine.after([.respond(486)])
        let intervals = (0..<10).map { _ in machine.effects(of: .fired(.g)).last }
        let expected: [TimerDelay] = [.seconds(1), .seconds(2)] + Array(repeating: .seconds(4), count: 8)
        #expect(intervals == expected.map { .start(.g, after: $0) })
        #expect(machine.effects(of: .fired(.h)) == [.timeout, .terminate])
    }

    @Test func `over a reliable transport a final response is not resent but its ACK is awaited`() {
        var machine = Machine.after([], isReliable: true)
        #expect(machine.effects(of: .respond(503)) == [.sendResponse, .start(.h, after: timeout64)])
        #expect(machine.effects(of: .ack) == [.stop([TimerSet(.g), TimerSet(.h)]), .terminate])
        #expect(machine.state == .terminated)
    }

    @Test func `over a reliable transport timer L still runs`() {
        var machine = Machine.after([], isReliable: true)
        #expect(machine.effects(of: .respond(200)) == [.sendResponse, .start(.l, after: timeout64)])
    }

    @Test func `a 200 that crosses the CANCEL wins over the 487`() {
        var machine = Machine.after([.respond(180), .respond(200)])
        #expect(machine.effects(of: .respond(487)).isEmpty)
        #expect(machine.state == .accepted)
    }
}
