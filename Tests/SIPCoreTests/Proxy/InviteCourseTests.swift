// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

/// Whole courses of an INVITE through the proxy, step by step, with the messages that leave at each step.
@Suite("Courses of an INVITE, RFC 3261 §9.1, §16.7 to §16.10, §17.1.1, §17.2.1, RFC 6026")
struct InviteCourseTests {
    /// One step of a course.
    enum Step: Sendable {
        /// The target responds.
        case response(Int)
        /// The target responds to the CANCEL.
        case cancelled(Int)
        /// The caller sends its INVITE again.
        case again
        /// The caller sends an ACK.
        case ack
        /// The caller cancels.
        case cancel
        /// Milliseconds pass.
        case wait(UInt64)
        /// The transport reports that the INVITE did not leave.
        case undelivered
    }

    struct Course: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [(step: Step, sent: [String])]

        init(_ rule: String, _ steps: [(Step, [String])]) {
            testDescription = rule
            self.steps = steps
        }
    }

    private static let ack = ["forward ACK"]

    static let courses: [Course] = [
        Course(
            "RFC 6026 §7.1: an INVITE that is sent again after its 2xx starts no second call and gets nothing",
            [(.response(200), ["up 200"]), (.again, []), (.wait(31_000), []), (.again, [])]),
        Course(
            "§13.2.2.4: each ACK of a 2xx is forwarded, however often it comes",
            [(.response(200), ["up 200"]), (.ack, ack), (.response(200), ["up 200"]), (.ack, ack)]),
        Course(
            "§17.2.1: the ACK of a failure ends its retransmissions; what follows is absorbed",
            [
                (.response(486), ["down ACK", "up 486"]), (.again, ["up 486"]), (.ack, []), (.wait(4_000), []),
                (.again, []), (.ack, []),
            ]),
        Course(
            "§17.2.1: a failure without ACK is sent again at T1 × 2^n up to T2, until timer H",
            [
                (.response(486), ["down ACK", "up 486"]),
                // 0.5, 1.5, 3.5, then every 4 s: 7.5 to 31.5 s.
                (.wait(3_500), ["up 486", "up 486", "up 486"]),
                (.wait(28_499), Array(repeating: "up 486", count: 7)), (.wait(1), []), (.wait(60_000), []),
            ]),
        Course(
            "§17.2.1: an ACK before any final response means nothing",
            [(.ack, []), (.response(180), ["up 180"]), (.ack, []), (.response(200), ["up 200"])]),
        Course(
            "§16.7 step 2: a 183 starts timer C anew",
            [
                (.response(180), ["up 180"]), (.wait(100_000), []), (.response(183), ["up 183"]),
                (.wait(180_999), []), (.wait(1), ["down CANCEL"]),
            ]),
        Course(
            "§16.7 step 2: a 100 does not",
            [
                (.response(180), ["up 180"]), (.wait(100_000), []), (.response(100), []), (.wait(80_999), []),
                (.wait(1), ["down CANCEL"]),
            ]),
        Course(
            "§16.8: after timer C a 2xx that crossed the CANCEL is the call's response",
            [
                (.response(180), ["up 180"]), (.wait(181_000), ["down CANCEL"]), (.response(200), ["up 200"]),
                (.cancelled(200), []), (.ack, ack),
            ]),
        Course(
            "§9.1: so is one that crossed the caller's CANCEL",
            [
                (.response(180), ["up 180"]), (.cancel, ["down CANCEL"]), (.response(200), ["up 200"]),
                (.cancelled(481), []), (.ack, ack),
            ]),
        Course(
            "§9.1: a CANCEL that still waited for a provisional response does not follow a 2xx",
            [(.cancel, []), (.response(200), ["up 200"]), (.wait(10_000), []), (.ack, ack)]),
        Course(
            "§9.1: nor a failure",
            [(.cancel, []), (.response(486), ["down ACK", "up 486"]), (.ack, []), (.wait(40_000), [])]),
        Course(
            "§9.1, §17.1.1.2: while it waits the INVITE goes on being sent, and silence is still a timeout",
            [
                (.cancel, []), (.wait(1_500), ["down INVITE", "down INVITE"]),
                (.wait(30_499), Array(repeating: "down INVITE", count: 4)), (.wait(1), ["up 408"]),
            ]),
        Course(
            "§17.1.2.2: a CANCEL is sent again at T1 × 2^n up to T2 until its response",
            [
                (.response(180), ["up 180"]), (.cancel, ["down CANCEL"]), (.wait(500), ["down CANCEL"]),
                (.wait(1_000), ["down CANCEL"]), (.wait(2_000), ["down CANCEL"]), (.cancelled(200), []),
                (.wait(8_000), []), (.response(487), ["down ACK", "up 487"]),
            ]),
        Course(
            "§9.1: a second CANCEL of the caller is no second CANCEL of the proxy",
            [
                (.response(180), ["up 180"]), (.cancel, ["down CANCEL"]), (.cancelled(200), []), (.cancel, []),
                (.wait(10_000), []), (.response(487), ["down ACK", "up 487"]),
            ]),
        Course(
            "§9.1: a target that never ends the cancelled INVITE is waited for 64 × T1",
            [
                (.response(180), ["up 180"]), (.cancel, ["down CANCEL"]), (.cancelled(200), []),
                (.response(183), ["up 183"]), (.wait(31_999), []), (.wait(1), ["up 408"]),
            ]),
        Course(
            "§9.1: a CANCEL after a final response has no effect",
            [
                (.response(180), ["up 180"]), (.response(200), ["up 200"]), (.cancel, []), (.wait(5_000), []),
                (.ack, ack),
            ]),
        Course(
            "§17.1.1.2: a provisional response ends the retransmissions, and silence is then timer C's",
            [(.wait(500), ["down INVITE"]), (.response(100), []), (.wait(180_000), [])]),
        Course(
            "§16.9: an INVITE that did not leave is reported once, and its late report means nothing",
            [(.undelivered, ["up 500"]), (.undelivered, []), (.ack, [])]),
        Course(
            "§16.9: after a provisional response no report can be about it",
            [(.response(180), ["up 180"]), (.undelivered, []), (.response(200), ["up 200"])]),
        Course(
            "RFC 6026 §7.2: a 2xx after timer M finds no transaction; the proxy has forgotten the call",
            [(.response(200), ["up 200"]), (.wait(32_064), [])]),
    ]

    @Test(arguments: courses)
    func `each step sends what the RFC says and nothing else`(course: Course) throws {
        try Self.play(course, try ProxyRun())
    }

    /// Plays a course to its end, after which nothing may be left of it.
    static func play(_ course: Course, _ run: ProxyRun) throws {
        var run = run
        for (step, sent) in course.steps {
            #expect(try play(step, &run).sorted() == sent.sorted(), "\(step)")
        }
        run.waitForEnd()
        #expect(run.table.count == 0)
        #expect(run.table.heldBytes == 0)
    }

    private static func play(_ step: Step, _ run: inout ProxyRun) throws -> [String] {
        switch step {
        case .response(let status): return try run.respond(status)
        case .cancelled(let status): return try run.respond(status, forCancel: true)
        case .wait(let milliseconds): return run.wait(milliseconds: milliseconds)
        case .cancel:
            run.table.cancel(run.transaction, with: try message("CANCEL"), at: run.now)
            return run.sent()
        case .again, .ack:
            let isAck = if case .ack = step { true } else { false }
            let request = isAck ? try message("ACK") : run.request
            let isForwarded = run.table.absorb(request, in: run.transaction, at: run.now)
            return run.sent() + (isForwarded ? ["forward \(isAck ? "ACK" : "INVITE")"] : [])
        case .undelivered:
            run.table.sendFailed(DeliveryToken(branch: run.transaction.branch, attempt: 0), at: run.now)
            return run.sent()
        }
    }

    private static func message(_ method: String) throws -> SIPMessage {
        try WireMessage.message(
            WireMessage.invite([("INVITE", "\(method) sip:a@b SIP/2.0"), ("CSeq", "CSeq: 1 \(method)")]))
    }

    @Test func `a report of failure counts once`() throws {
        let run = try ProxyRun()
        for attempt in [1, 0, 0] as [UInt8] {
            run.table.sendFailed(DeliveryToken(branch: run.transaction.branch, attempt: attempt), at: run.now)
        }
        #expect(run.user.unreachable == 1)
    }

    @Test func `the CANCEL of a call that has its response is not kept`() throws {
        let run = try ProxyRun()
        _ = try run.respond(486)
        let before = run.table.heldBytes
        let reason = "Reason: SIP;cause=200;text=\"" + String(repeating: "x", count: 5_000) + "\""
        run.table.cancel(
            run.transaction, with: try WireMessage.message(["CANCEL sip:a@b SIP/2.0", reason]), at: run.now)
        #expect(run.table.heldBytes == before)
    }

    @Test func `the 2xx of two forks go up as they came, RFC 3261 §13.2.2.4`() throws {
        let run = try ProxyRun()
        let tags = ["one", "two", "one", "three"]
        for tag in tags {
            let response = try WireMessage.message([
                "SIP/2.0 200 OK", "Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKx",
                "To: <sip:+4930987654@192.0.2.10>;tag=\(tag)", "CSeq: 1 INVITE", "Contact: <sip:\(tag)@192.0.2.99>",
            ])
            run.table.receive(response, in: run.transaction, isForCancel: false, at: run.now)
        }
        let sent = try run.table.outgoing.map { try SIPMessage.index($0.bytes) }
        #expect(sent.map { $0.toTag.map($0.text) } == tags)
        #expect(run.table.outgoing.allSatisfy { $0.destination == ProxyRun.source })
    }
}
