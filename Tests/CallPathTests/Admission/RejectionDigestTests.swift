// SPDX-License-Identifier: Apache-2.0

import CallPath
import SIPCore
import Testing

@Suite("What is logged and shown of rejected messages")
struct RejectionDigestTests {
    private static let carrier = PeerAddress(ipv4: 0xCB00_7105, port: 5060)

    private func unknown(
        _ host: UInt32 = 0xC633_6409, method: StaticString = "INVITE", status: UInt16 = 403,
        cause: Rejection.Cause = .unlisted, sender: Rejection.Sender = .unknown, count: UInt64 = 1,
        at seconds: Int64 = 1_800_000_000
    ) -> Rejection {
        var rejection = Rejection(
            source: PeerAddress(ipv4: host, port: 5060), transport: .udp, sender: sender, method: ShortText(method),
            status: status, cause: cause, at: seconds * 1_000_000)
        rejection.count = count
        return rejection
    }

    private func known(
        _ cause: Rejection.Cause, _ status: UInt16, phrase: StaticString = "", detail: StaticString = ""
    ) -> Rejection {
        Rejection(
            source: Self.carrier, transport: .tcp, sender: .trunk("carrier"), method: ShortText("INVITE"),
            status: status, cause: cause, phrase: phrase, detail: ShortText(detail), at: 0)
    }

    @Test func `an unlisted address is named with cause and remedy`() {
        var digest = RejectionDigest()
        let lines = digest.take([unknown()], at: 100)
        #expect(
            lines.map(\.text) == [
                "INVITE from 198.51.100.9:5060 rejected (403): no trunk or pbx lists this address in sources; "
                    + "add it to sources if it is yours"
            ])
        #expect(lines.first?.isWarning == true && lines.first?.transport == .udp)
    }

    @Test func `a sender has one line in ten minutes, whatever it sends, and the next one counts`() {
        var digest = RejectionDigest()
        #expect(digest.take([unknown()], at: 100).count == 1)
        for second in 101..<700 as Range<Int64> {
            #expect(digest.take([unknown(method: "REGISTER", count: 50)], at: second).isEmpty)
        }
        let lines = digest.take([unknown(method: "OPTIONS")], at: 700)
        #expect(lines.count == 1)
        #expect(lines[0].text.hasPrefix("OPTIONS from 198.51.100.9:5060 rejected (403), 29951 messages: "))
    }

    @Test func `many senders at once have ten lines and one about the rest`() {
        var digest = RejectionDigest()
        let first = digest.take((0..<500).map { unknown(0x0A00_0000 + $0) }, leftOut: 7, at: 100)
        #expect(first.count == 10)
        #expect(digest.take([unknown(0x0B00_0000)], at: 130).isEmpty)
        let next = digest.take([], at: 160)
        #expect(next.map(\.text) == [next.first?.text ?? ""])
        #expect(next[0].text.hasPrefix("498 more messages rejected"))
        #expect(digest.take([], at: 300).isEmpty, "told once")
    }

    @Test func `memory stays bounded, and the latest are shown newest first`() {
        var digest = RejectionDigest()
        for round in 0..<20 as Range<UInt32> {
            _ = digest.take((0..<256).map { unknown(round << 16 + $0, at: Int64(round)) }, at: Int64(round))
        }
        _ = digest.take([unknown(at: 100)], at: 100)
        #expect(digest.latest.count == 32)
        #expect(digest.latest[0].source == unknown().source)
    }

    @Test func `scanners share one line in ten minutes, which is no warning`() {
        var digest = RejectionDigest()
        let scans = (0..<3).map { unknown(0x0A00_0000 + $0, status: 0, sender: .scanner, count: 20) }
        let lines = digest.take(scans, at: 100)
        #expect(
            lines.map(\.text) == [
                "requests of known scanners dropped: 60, addresses: 3; Herald does not respond to them"
            ])
        #expect(lines[0].isWarning == false)
        #expect(digest.take(scans, at: 200).isEmpty)
        #expect(
            digest.take(scans, at: 700).first?.text.hasPrefix("requests of known scanners dropped: 120, addresses: 3")
                == true)
    }

    /// Records of a configured peer and how their lines go on after the sender.
    static let peers:
        [(cause: Rejection.Cause, status: UInt16, phrase: StaticString, detail: StaticString, text: String)] = [
            (.brokenRule, 400, "Bad From", "", "rejected (400): Bad From; the sender must correct its requests"),
            (
                .brokenRule, 420, "Bad Extension", "x\u{1B}[2J",
                "rejected (420): Bad Extension \"x\\x1B[2J\"; the sender must correct its requests"
            ),
            (.brokenRule, 483, "Too Many Hops", "", "rejected (483): Too Many Hops; look for a loop in the routes"),
            (
                .loop, 482, "Loop Detected", "",
                "rejected (482): the request came back as it had left; look for a route from the peer back to Herald"
            ),
            (
                .pause, 0, "", "",
                "dropped: herald did not run for two seconds or more, and the sender repeats what it still wants; "
                    + "find out what stopped the process: a frozen machine, or too few cores"
            ),
            (
                .number, 503, "Service Unavailable", "",
                "rejected (503): limits.calls of the trunk or the route is reached; raise it if these calls are wanted"
            ),
        ]

    @Test(arguments: peers)
    func `a configured peer is named with the header or the limit`(
        row: (cause: Rejection.Cause, status: UInt16, phrase: StaticString, detail: StaticString, text: String)
    ) {
        var digest = RejectionDigest()
        let lines = digest.take([known(row.cause, row.status, phrase: row.phrase, detail: row.detail)], at: 0)
        #expect(lines.map(\.text) == ["INVITE from 203.0.113.5:5060 (trunk carrier) " + row.text])
    }

    @Test func `of a configured peer each cause has a line of its own`() {
        var digest = RejectionDigest()
        #expect(digest.take([known(.rate, 503), known(.brokenRule, 400, phrase: "Bad From")], at: 0).count == 2)
        #expect(digest.take([known(.rate, 503)], at: 1).isEmpty)
        #expect(digest.take([known(.draining, 503)], at: 2).isEmpty, "the stop of the gateway is logged already")
    }

    @Test func `a response is named by its status`() {
        var rejection = unknown(status: 0)
        rejection.responseStatus = 200
        var digest = RejectionDigest()
        #expect(
            digest.take([rejection], at: 0)[0].text.hasPrefix("response 200 to INVITE from 198.51.100.9:5060 dropped: ")
        )
    }
}
