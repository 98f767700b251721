// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("Server transaction of other requests, RFC 3261 §17.2.2 and RFC 4320")
struct NonInviteServerTransactionTests {
    typealias Machine = NonInviteServerTransaction

    static let paths: [Machine.State: [ServerTransactionEvent]] = [
        .trying: [],
        .proceeding: [.fired(.trying)],
        .completed: [.respond(200)],
        .terminated: [.respond(200), .fired(.j)],
    ]

    static func final(_ response: TransactionEffect?) -> [TransactionEffect] {
        [.stop(TimerSet(.trying)), response, .start(.j, after: timeout64)].compactMap { $0 }
    }

    static let table: [TransactionRow<Machine>] = [
        TransactionRow("§17.2.2: a resent request is discarded in Trying", .trying, .request, .trying),
        TransactionRow(
            "RFC 4320 §4.1: no 100 over an unreliable transport before its time",
            .trying, .respond(100), .trying),
        TransactionRow(
            "RFC 4320 §4.1: no provisional response but 100",
            .trying, .respond(180), .trying),
        TransactionRow(
            "RFC 4320 §4.1: a 100 when a client's timer E is reset to T2",
            .trying, .fired(.trying), .proceeding, [.sendTrying]),
        TransactionRow("§17.2.2: a final response in Trying", .trying, .respond(200), .completed, final(.sendResponse)),
        TransactionRow("§17.2.2: a failure in Trying", .trying, .respond(486), .completed, final(.sendResponse)),
        TransactionRow("RFC 4320 §4.2: a 408 is never sent", .trying, .respond(408), .completed, final(nil)),
        TransactionRow(
            "§17.2.2: a resent request gets the 100 again",
            .proceeding, .request, .proceeding, [.resendResponse]),
        TransactionRow(
            "§17.2.2: further provisional responses pass, if they are a 100",
            .proceeding, .respond(100), .proceeding, [.sendResponse]),
        TransactionRow(
            "RFC 4320 §4.1: in Proceeding too no provisional response but 100",
            .proceeding, .respond(180), .proceeding),
        TransactionRow(
            "§17.2.2: a final response in Proceeding", .proceeding, .respond(200), .completed, final(.sendResponse)),
        TransactionRow(
            "§17.2.2: a failure in Proceeding", .proceeding, .respond(486), .completed, final(.sendResponse)),
        TransactionRow("RFC 4320 §4.2: no 408 after a 100 either", .proceeding, .respond(408), .completed, final(nil)),
        TransactionRow(
            "§17.2.4: a transport failure is told to the core and ends it",
            .proceeding, .transportFailed, .terminated, [.transportFailed, .terminate]),
        TransactionRow(
            "§17.2.2: a resent request gets the final response again",
            .completed, .request, .completed, [.resendResponse]),
        TransactionRow(
            "§17.2.2: any other final response of the core is discarded",
            .completed, .respond(486), .completed),
        TransactionRow("§17.2.2: timer J ends the transaction", .completed, .fired(.j), .terminated, [.terminate]),
        TransactionRow(
            "§17.2.4: a transport failure in Completed is told to the core and ends it",
            .completed, .transportFailed, .terminated, [.transportFailed, .terminate]),
    ]

    @Test(arguments: table)
    func `a state does with an event what the RFC says`(row: TransactionRow<Machine>) throws {
        try row.check(after: Self.paths[row.state])
    }

    @Test(arguments: [false, true])
    func `everything the table does not name is absorbed`(isReliable: Bool) {
        expectRestAbsorbed(Self.table, paths: Self.paths, events: allServerEvents, isReliable: isReliable)
    }

    @Test func `the request is handed up and its 100 is set for three and a half seconds`() {
        var machine = Machine(timers: .standard, isReliable: false)
        #expect(Array(machine.start()) == [.deliverRequest, .start(.trying, after: .milliseconds(3500))])
    }

    @Test func `over a reliable transport a 100 may go out at any time`() {
        var machine = Machine.after([], isReliable: true)
        #expect(machine.effects(of: .respond(100)) == [.stop(TimerSet(.trying)), .sendResponse])
        #expect(machine.state == .proceeding)
    }

    @Test func `over a reliable transport the 100 still goes out by itself`() {
        var machine = Machine.after([], isReliable: true)
        #expect(machine.effects(of: .fired(.trying)) == [.sendTrying])
    }

    @Test func `over a reliable transport a final response ends the transaction`() {
        var machine = Machine.after([], isReliable: true)
        #expect(machine.effects(of: .respond(200)) == [.stop(TimerSet(.trying)), .sendResponse, .terminate])
        #expect(machine.state == .terminated)
    }

    @Test func `after an unsent 408 resent requests are absorbed until timer J`() {
        var machine = Machine.after([.respond(408)])
        #expect(machine.effects(of: .request).isEmpty)
        #expect(machine.effects(of: .respond(200)).isEmpty)
        #expect(machine.effects(of: .fired(.j)) == [.terminate])
    }
}

@Suite("Client transaction of other requests, RFC 3261 §17.1.2")
struct NonInviteClientTransactionTests {
    typealias Machine = NonInviteClientTransaction

    static let paths: [Machine.State: [ClientTransactionEvent]] = [
        .trying: [],
        .proceeding: [.response(100)],
        .completed: [.response(200)],
        .terminated: [.fired(.f)],
    ]

    static let final: [TransactionEffect] = [
        .stop([TimerSet(.e), TimerSet(.f)]), .deliverResponse, .start(.k, after: .seconds(5)),
    ]

    static let table: [TransactionRow<Machine>] = [
        TransactionRow(
            "§17.1.2.2: a provisional response is passed up", .trying, .response(100), .proceeding, [.deliverResponse]),
        TransactionRow(
            "§17.1.2.2: any provisional response will do", .trying, .response(180), .proceeding, [.deliverResponse]),
        TransactionRow("§17.1.2.2: a 2xx in Trying is passed up, timer K", .trying, .response(200), .completed, final),
        TransactionRow(
            "§17.1.2.2: a failure in Trying is passed up, timer K", .trying, .response(486), .completed, final),
        TransactionRow(
            "§17.1.2.2: timer E resends and doubles",
            .trying, .fired(.e), .trying, [.resendRequest, .start(.e, after: .seconds(1))]),
        TransactionRow("§17.1.2.2: timer F is a timeout", .trying, .fired(.f), .terminated, [.timeout, .terminate]),
        TransactionRow(
            "§17.1.4: a transport failure in Trying is told to the core and ends it",
            .trying, .transportFailed, .terminated, [.transportFailed, .terminate]),
        TransactionRow(
            "§17.1.2.2: further provisional responses are passed up",
            .proceeding, .response(100), .proceeding, [.deliverResponse]),
        TransactionRow(
            "§17.1.2.2: so is another kind of them",
            .proceeding, .response(180), .proceeding, [.deliverResponse]),
        TransactionRow(
            "§17.1.2.2: a 2xx in Proceeding is passed up, timer K", .proceeding, .response(200), .completed, final),
        TransactionRow(
            "§17.1.2.2: a failure in Proceeding is passed up, timer K", .proceeding, .response(486), .completed, final),
        TransactionRow(
            "§17.1.2.2: timer E in Proceeding resends and goes to T2",
            .proceeding, .fired(.e), .proceeding, [.resendRequest, .start(.e, after: .seconds(4))]),
        TransactionRow(
            "§17.1.2.2: timer F counts in Proceeding too",
            .proceeding, .fired(.f), .terminated, [.timeout, .terminate]),
        TransactionRow(
            "§17.1.4: a transport failure in Proceeding is told to the core and ends it",
            .proceeding, .transportFailed, .terminated, [.transportFailed, .terminate]),
        TransactionRow("§17.1.2.2: a repeated final response is absorbed", .completed, .response(200), .completed),
        TransactionRow("§17.1.2.2: timer K ends the transaction", .completed, .fired(.k), .terminated, [.terminate]),
    ]

    @Test(arguments: table)
    func `a state does with an event what the RFC says`(row: TransactionRow<Machine>) throws {
        try row.check(after: Self.paths[row.state])
    }

    @Test(arguments: [false, true])
    func `everything the table does not name is absorbed`(isReliable: Bool) {
        expectRestAbsorbed(Self.table, paths: Self.paths, events: allClientEvents, isReliable: isReliable)
    }

    @Test func `the request goes out with timers E and F`() {
        var machine = Machine(timers: .standard, isReliable: false)
        #expect(
            Array(machine.start()) == [
                .sendRequest, .start(.e, after: .milliseconds(500)), .start(.f, after: timeout64),
            ])
    }

    @Test func `over a reliable transport nothing is resent and a final response ends it`() {
        var machine = Machine(timers: .standard, isReliable: true)
        #expect(Array(machine.start()) == [.sendRequest, .start(.f, after: timeout64)])
        #expect(
            machine.effects(of: .response(200)) == [
                .stop([TimerSet(.e), TimerSet(.f)]), .deliverResponse, .terminate,
            ])
        #expect(machine.state == .terminated)
    }

    @Test func `timer E doubles from T1 and is capped at T2`() {
        var machine = Machine.after([])
        let intervals = (0..<9).map { _ in machine.effects(of: .fired(.e)).last }
        let expected: [TimerDelay] = [.seconds(1), .seconds(2)] + Array(repeating: .seconds(4), count: 7)
        #expect(intervals == expected.map { .start(.e, after: $0) })
    }

    @Test func `a request other than INVITE is not cancelled`() {
        var machine = Machine.after([.response(100)])
        #expect(machine.effects(of: .cancel).isEmpty)
    }
}
