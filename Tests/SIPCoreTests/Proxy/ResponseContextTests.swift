// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

/// The rules of RFC 3261 §16.7 about several responses to one request, above all that no 2xx to an INVITE is lost.
@Suite("Which responses reach the caller, RFC 3261 §16.7 step 5 and RFC 6026 §8")
struct ResponseContextTests {
    /// Responses of one target in the order they arrive, and the messages that follow.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let responses: [Int]
        let sent: [String]
        /// Statuses that the owner of the table was given.
        let delivered: [Int]

        init(_ rule: String, _ responses: [Int], _ sent: [String], delivered: [Int]) {
            testDescription = rule
            self.responses = responses
            self.sent = sent
            self.delivered = delivered
        }
    }

    static let rows: [Row] = [
        Row("§16.7 step 5: a 100 is not forwarded", [100, 100], [], delivered: []),
        Row(
            "§16.7 step 5: every provisional response above 100 is forwarded at once",
            [180, 183, 180], ["up 180", "up 183", "up 180"], delivered: [180, 183, 180]),
        Row("§16.7 step 5: any 2xx is forwarded at once", [200], ["up 200"], delivered: [200]),
        Row("§16.7 step 5: so is a 2xx other than 200", [202], ["up 202"], delivered: [202]),
        Row(
            "§16.7 step 5, §13.3.1.4: the 2xx of each fork downstream is forwarded",
            [200, 200, 200], ["up 200", "up 200", "up 200"], delivered: [200, 200, 200]),
        Row(
            "RFC 6026 §7.2: after a 2xx no provisional response is forwarded",
            [200, 180], ["up 200"], delivered: [200]),
        Row("RFC 6026 §7.2: nor is a failure", [200, 486], ["up 200"], delivered: [200]),
        Row(
            "§16.7 step 5, §17.1.1.2: a failure is forwarded once and acknowledged on its hop each time",
            [486, 486, 486], ["down ACK", "up 486", "down ACK", "down ACK"], delivered: [486]),
        Row(
            "§16.7 step 5: a 2xx after a failure is forwarded all the same",
            [486, 200], ["down ACK", "up 486", "up 200"], delivered: [486, 200]),
        Row(
            "§16.7 step 5: so is each further one",
            [486, 200, 200], ["down ACK", "up 486", "up 200", "up 200"], delivered: [486, 200, 200]),
        Row(
            "§17.1.1.2: a provisional response after a failure is absorbed",
            [486, 180], ["down ACK", "up 486"], delivered: [486]),
        Row("§16.7 step 5: a 3xx is a final response as well", [302], ["down ACK", "up 302"], delivered: [302]),
        Row("§16.7 step 5: and a 6xx", [603], ["down ACK", "up 603"], delivered: [603]),
    ]

    @Test(arguments: rows)
    func `of one target`(row: Row) throws {
        var run = try ProxyRun()
        var sent: [String] = []
        for status in row.responses { sent += try run.respond(status) }
        #expect(sent == row.sent)
        #expect(run.user.delivered == row.delivered)
        run.waitForEnd()
        #expect(run.table.count == 0)
    }

    /// What a target that was left for the next one still sends, and the messages that follow.
    static let late: [Row] = [
        Row("§16.7 step 4: a late 100 says nothing", [100], [], delivered: []),
        Row(
            "§16.7 step 10, §9.1: ringing there is cancelled, and the caller does not learn of it",
            [180], ["down CANCEL"], delivered: []),
        Row(
            "§17.1.1.3: its failure is acknowledged on its hop, and the caller waits for the other target",
            [486], ["down ACK"], delivered: []),
        Row(
            "§16.7 steps 5 and 10: its 2xx is forwarded, and the present target is cancelled",
            [200], ["up 200"], delivered: [200]),
        Row(
            "§16.7 step 5: so is the 2xx of each of its forks",
            [200, 200], ["up 200", "up 200"], delivered: [200, 200]),
    ]

    @Test(arguments: late)
    func `of a target that was given up`(row: Row) throws {
        var run = try ProxyRun()
        run.table.giveUp(run.transaction)
        let flow = Flow(source: ProxyRun.target, socket: 1)
        for status in row.responses {
            run.table.receive(
                try run.response(status), in: run.transaction, attempt: 0, from: flow, isForCancel: false, at: run.now)
        }
        #expect(run.sent() == row.sent)
        #expect(run.user.delivered == row.delivered)
        #expect(run.transaction.hasGivenUp(0) && !run.transaction.hasGivenUp(1))
        _ = run.wait(milliseconds: 0)
    }

    @Test func `a 2xx of the target given up cancels the one that rings, §16.7 step 10`() throws {
        let run = try ProxyRun()
        run.table.giveUp(run.transaction)
        run.table.receive(
            try run.response(180), in: run.transaction, attempt: 1, isForCancel: false, at: run.now)
        #expect(run.sent() == ["up 180"])
        let flow = Flow(source: ProxyRun.target, socket: 1)
        run.table.receive(
            try run.response(200), in: run.transaction, attempt: 0, from: flow, isForCancel: false, at: run.now)
        #expect(run.sent() == ["down CANCEL", "up 200"])
        #expect(run.transaction.isCancelled)
    }

    /// Other requests have one final response, RFC 3261 §17.1.2 and §17.2.2, RFC 4320.
    static let others: [Row] = [
        Row("§17.1.2.2: the first final response is forwarded", [200], ["up 200"], delivered: [200]),
        Row("§17.1.2.2: its repetitions are absorbed", [200, 200], ["up 200"], delivered: [200]),
        Row("§17.1.2.2: and so is a later one", [404, 200], ["up 404"], delivered: [404]),
        Row("RFC 4320 §4.1: a provisional response does not go on", [180, 200], ["up 200"], delivered: [180, 200]),
        Row("§17.1.2: nothing is acknowledged", [486], ["up 486"], delivered: [486]),
    ]

    @Test(arguments: others)
    func `of a request that is no INVITE`(row: Row) throws {
        var run = try ProxyRun("INFO")
        var sent: [String] = []
        for status in row.responses { sent += try run.respond(status) }
        #expect(sent == row.sent)
        #expect(run.user.delivered == row.delivered)
        run.waitForEnd()
        #expect(run.table.count == 0)
    }

    @Test(arguments: ["INFO", "BYE", "OPTIONS", "REGISTER"])
    func `only an INVITE is cancelled, §9.1`(method: String) throws {
        var run = try ProxyRun(method)
        run.table.cancel(run.transaction, with: nil, at: run.now)
        #expect(run.sent() == [])
        #expect(!run.transaction.isCancelled && !run.transaction.isPending)
        run.waitForEnd()
    }

    @Test func `responses to the CANCEL end at the proxy, §16.10`() throws {
        var run = try ProxyRun()
        _ = try run.respond(180)
        run.table.cancel(run.transaction, with: nil, at: run.now)
        #expect(run.sent() == ["down CANCEL"])
        for status in [200, 481, 500] { #expect(try run.respond(status, forCancel: true) == []) }
        #expect(run.user.delivered == [180])
        #expect(try run.respond(487) == ["down ACK", "up 487"])
        run.waitForEnd()
        #expect(run.table.count == 0)
    }

    @Test func `a response to a CANCEL that was never sent is absorbed`() throws {
        let run = try ProxyRun()
        #expect(try run.respond(200, forCancel: true) == [])
        #expect(run.user.delivered == [])
        #expect(run.transaction.isPending)
    }
}
