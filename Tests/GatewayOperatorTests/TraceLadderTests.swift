// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GatewayOperator

@Suite("The ladder of herald trace")
struct TraceLadderTests {
    private func rows(_ lines: [TraceLine]) -> [String] {
        var ladder = TraceLadder()
        return lines.map { ladder.text(of: $0) }.joined().split(separator: "\n").map(String.init)
    }

    @Test func `a call has its trunk at the left, Herald in the middle and its target at the right`() {
        typealias Example = TraceExamples
        let rows = rows([
            Example.line(.message(Example.message("INVITE"))),
            Example.line(.decision("matched \"Acme\"", evidence: "caller +61******156 from From")),
            Example.line(
                .message(Example.message("INVITE", received: false, side: .pbx, peer: "office")), after: 1),
            Example.line(.message(Example.message("180 Ringing", side: .pbx, peer: "office")), after: 1203),
            Example.line(.message(Example.message("180 Ringing", received: false, transport: .tls)), after: 1204),
            Example.line(.outcome("ANSWERED, rang 4 s")),
        ])
        #expect(
            rows == [
                "2027-01-15T08:00:00Z  call a@b",
                "    0.000 s  carrier        ─ INVITE ────────────▶ herald                                        a@b",
                "             decision: matched \"Acme\"",
                "             evidence: caller +61******156 from From",
                "    0.001 s                                        herald ─ INVITE ────────────▶ office          a@b",
                "    1.203 s                                        herald ◀── 180 Ringing ────── office          a@b",
                "    1.204 s  carrier        ◀── 180 Ringing tls ── herald                                        a@b",
                "             outcome: ANSWERED, rang 4 s",
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
