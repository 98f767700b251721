// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

/// Courses of requests other than INVITE, and of every request over transports that lose nothing.
@Suite("Courses of other requests and over streams, RFC 3261 §17.1.2, §17.2.2, RFC 4320")
struct OtherCourseTests {
    typealias Course = InviteCourseTests.Course

    static let others: [Course] = [
        Course(
            "§17.1.2.2: sent again at T1 × 2^n up to T2 until timer F; RFC 4320 §4.1, §4.2: a late 100 and never a 408",
            [
                (.wait(500), ["down BYE"]), (.wait(1_000), ["down BYE"]), (.wait(2_000), ["down BYE", "up 100"]),
                (.wait(4_000), ["down BYE"]), (.again, ["up 100"]),
                (.wait(24_499), Array(repeating: "down BYE", count: 6)), (.wait(1), []), (.again, []),
            ]),
        Course(
            "§17.1.2.2: after a provisional response timer E runs at T2",
            [
                (.response(180), []), (.wait(500), ["down BYE"]), (.wait(3_000), ["up 100"]),
                (.wait(1_000), ["down BYE"]), (.response(200), ["up 200"]), (.wait(8_000), []),
            ]),
        Course(
            "§17.2.2: the final response is repeated for timer J",
            [(.response(200), ["up 200"]), (.wait(31_999), []), (.again, ["up 200"]), (.wait(65), []), (.again, [])]),
        Course(
            "§17.2.2: a retransmission before any response gets none",
            [(.again, []), (.wait(400), []), (.again, []), (.response(404), ["up 404"]), (.again, ["up 404"])]),
        Course(
            "§17.1.4: a request that did not leave is not sent again",
            [(.undelivered, ["up 500"]), (.wait(8_000), []), (.response(200), [])]),
        Course(
            "§9.1: a CANCEL means nothing to it",
            [(.response(180), []), (.cancel, []), (.response(200), ["up 200"]), (.cancel, [])]),
    ]

    @Test(arguments: others)
    func `each step of a BYE sends what the RFC says and nothing else`(course: Course) throws {
        try InviteCourseTests.play(course, try ProxyRun("BYE"))
    }

    static let invites: [Course] = [
        Course("§17.1.1.2: no timer A, and timer B all the same", [(.wait(31_999), []), (.wait(1), ["up 408"])]),
        Course(
            "§17.2.1: no timer G: a failure is sent once, and timer H still waits for its ACK",
            [(.response(486), ["down ACK", "up 486"]), (.wait(31_999), []), (.ack, []), (.again, [])]),
        Course(
            "§17.2.1: no timer I: the ACK ends the transaction",
            [(.response(603), ["down ACK", "up 603"]), (.ack, []), (.ack, []), (.again, [])]),
        Course(
            "RFC 6026 §7: Accepted lasts on every transport",
            [
                (.response(200), ["up 200"]), (.wait(31_000), []), (.response(200), ["up 200"]),
                (.ack, ["forward ACK"]), (.again, []),
            ]),
        Course(
            "§17.1.2.2: no timer E: a CANCEL is sent once",
            [
                (.response(180), ["up 180"]), (.cancel, ["down CANCEL"]), (.wait(10_000), []), (.cancelled(200), []),
                (.response(487), ["down ACK", "up 487"]), (.ack, []),
            ]),
        Course(
            "§16.8: timer C runs on every transport",
            [(.response(183), ["up 183"]), (.wait(180_999), []), (.wait(1), ["down CANCEL"])]),
    ]

    @Test(arguments: invites)
    func `each step of an INVITE over streams sends what the RFC says and nothing else`(course: Course) throws {
        try InviteCourseTests.play(course, try ProxyRun(isReliable: true))
    }

    static let streamed: [Course] = [
        Course(
            "§17.1.2.2: no timer E; RFC 4320 §4.1: the 100 comes as late; no timers J and K",
            [(.wait(3_499), []), (.wait(1), ["up 100"]), (.response(200), ["up 200"]), (.again, [])]),
        Course("§17.1.2.2: timer F on every transport", [(.wait(32_000), ["up 100"]), (.again, [])]),
    ]

    @Test(arguments: streamed)
    func `each step of a BYE over streams sends what the RFC says and nothing else`(course: Course) throws {
        try InviteCourseTests.play(course, try ProxyRun("BYE", isReliable: true))
    }
}
