// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import GatewayOperator

@Suite("The ladder of herald trace")
struct TraceLadderTests {
    private func rows(_ lines: [TraceLine], _ form: TableForm = .narrow) -> [String] {
        var ladder = TraceLadder(form)
        return lines.map { ladder.text(of: $0) }.joined().split(separator: "\n").map(String.init)
    }

    private typealias Example = TraceExamples

    private static let call = [
        Example.line(.message(Example.message("INVITE"))),
        Example.line(.decision("matched \"Acme\"", evidence: evidence)),
        Example.line(.message(Example.message("INVITE", received: false, side: .pbx, peer: "office")), after: 1),
        Example.line(.message(Example.message("180 Ringing", side: .pbx, peer: "office")), after: 1203),
        Example.line(.message(Example.message("180 Ringing", received: false, transport: .tls)), after: 1204),
        Example.line(.outcome("ANSWERED, rang 4 s")),
    ]
    private static let evidence =
        "caller +61******156 from From; trusted trunk, not verified; policy standard: satisfied; gates open"

    @Test func `a call has its trunk at the left, Herald in the middle and its target at the right`() {
        #expect(
            rows(Self.call) == [
                "2027-01-15T08:00:00Z  call a@b",
                "   0.000 s carrier   ─ INVITE ──────▶ herald                            a@b",
                "             decision: matched \"Acme\"",
                "             evidence: caller +61******156 from From; trusted trunk, not",
                "             verified; policy standard: satisfied; gates open",
                "   0.001 s                            herald ─ INVITE ──────▶ office    a@b",
                "   1.203 s                            herald ◀── 180 Ringing  office    a@b",
                "   1.204 s carrier   ◀── 180 Ri… tls  herald                            a@b",
                "             outcome: ANSWERED, rang 4 s",
            ])
    }

    @Test func `a wide ladder has more of the texts, and each in one line`() {
        #expect(
            rows(Self.call, .wide) == [
                "2027-01-15T08:00:00Z  call a@b",
                "    0.000 s  carrier        ─ INVITE ────────────▶ herald                                        a@b",
                "             decision: matched \"Acme\"",
                "             evidence: \(Self.evidence)",
                "    0.001 s                                        herald ─ INVITE ────────────▶ office          a@b",
                "    1.203 s                                        herald ◀── 180 Ringing ────── office          a@b",
                "    1.204 s  carrier        ◀── 180 Ringing tls ── herald                                        a@b",
                "             outcome: ANSWERED, rang 4 s",
            ])
    }

    @Test(arguments: [
        ("carrier", "INVITE"), ("a carrier with a long name", "183 Session Progress"),
        ("[2001:db8::1234:5678]:5060", "BYE"),
        ("名前名前名前名前", "200 名前名前名前名前"), ("\u{1B}[2J\u{1B}[2J\u{1B}[2J", "\u{202E}\u{202E}\u{202E}\u{202E}"),
    ])
    func `no row is longer than 80 columns`(peer: String, summary: String) {
        let call = "\u{1B}\u{1B}\u{1B}名前名前名前"
        for transport in [.udp, .tcp, .tls] as [TracedMessage.Transport] {
            for side in [.trunk, .pbx, .unknown] as [TracedMessage.Side] {
                let messages = [0, 999_999].map { time in
                    Example.line(
                        .message(Example.message(summary, transport: transport, side: side, peer: peer)), after: time,
                        callID: call)
                }
                let outcome = Example.line(.outcome(String(repeating: "word ", count: 60)), callID: call)
                for row in rows(messages + [outcome]) { #expect(TerminalText.width(row) <= 80, "\(row)") }
            }
        }
    }

    @Test func `an unknown peer is named whole, once a call`() {
        let message = Example.message("INVITE", side: .unknown, peer: "203.0.113.250:5060")
        let rows = rows([Example.line(.message(message)), Example.line(.message(message), after: 500)])
        #expect(
            rows == [
                "2027-01-15T08:00:00Z  call a@b", "             unknown peer 203.0.113.250:5060",
                "   0.000 s 203.0.11… ─ INVITE ──────▶ herald                            a@b",
                "   0.500 s 203.0.11… ─ INVITE ──────▶ herald                            a@b",
            ])
    }

    @Test func `hostile text cannot control the terminal`() {
        let call = "\u{1B}[2J\u{202E}x\r\nforged: line"
        let rows = rows([
            TraceExamples.line(
                .message(TraceExamples.message("200 \u{7}\u{1B}]0;owned", peer: "\u{9B}31m")), callID: call),
            TraceExamples.line(.decision("matched \"\u{1B}[31m\"", evidence: "\n"), callID: call),
            TraceExamples.line(.end("\u{1B}c")),
        ])
        #expect(rows.count == 5)
        for row in rows {
            #expect(row.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x7F && $0.value != 0x9B })
            #expect(!row.unicodeScalars.contains("\u{202E}"))
        }
    }

    @Test func `missing events and cut messages are shown`() {
        var line = TraceExamples.line(.message(TraceExamples.message()))
        line.lost = 7
        #expect(rows([line]).first == "  … 7 events are missing: they came faster than they could be read")
        var message = TraceExamples.message()
        message.cut = 100
        #expect(
            rows([TraceExamples.line(.message(message))]).last?.hasSuffix("100 bytes of the message are left out")
                == true)
        #expect(rows([TraceExamples.line(.alive)]).isEmpty)
    }
}

@Suite("Numbers of a trace order")
struct TraceOrderTests {
    @Test(arguments: [
        ("+61255501001", "0255501001", true), ("0061255501001", "+61 2 5550 1001", true), ("1001", "1001", true),
        ("1001", "+61255501001", false), ("+61255501001", "+61255501002", false), ("", "", false), ("abc", "x", false),
    ])
    func `a number is found with or without its country code`(one: String, other: String, isSame: Bool) {
        #expect(TraceOrder.isSame(Array(one.utf8), Array(other.utf8)) == isSame)
    }
}
