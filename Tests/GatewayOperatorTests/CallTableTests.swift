// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import Primitives
import Testing

@testable import GatewayOperator

@Suite("The table of herald calls")
struct CallTableTests {
    /// 2026-01-31T12:00:05Z in microseconds.
    private static let noon: Int64 = 1_769_860_805_000_000

    private static func call(
        _ brand: String?, decision: String = "matched", caller: Int64 = 61_255_501_001, outcome: String = "ANSWERED",
        customer: String? = nil, received: String? = nil, at time: Int64 = noon
    ) -> LedgerCallRow {
        LedgerCallRow(
            shared: [
                "brand_name": .text(brand), "decision": .text(decision),
                "caller": .integer(received == nil ? caller : nil),
                "caller_received": .text(received),
                "destination": .integer(61_255_501_002), "outcome": .text(outcome), "invite_at": .integer(time),
                "direction": .integer(1), "trunk": .text("carrier"), "customer": .text(customer),
                "answered_at": .integer(time),
            ], node: "", events: []
        ).withoutNode
    }

    private static func lines(
        _ calls: [LedgerCallRow], _ style: CallTable.Style = .init(), in zone: LocalZone = .utc
    ) -> [String] {
        var table = CallTable(style, in: zone)
        return table.lines(calls).split(separator: "\n").map(String.init)
    }

    @Test func `a call is one line below the titles and its day`() {
        #expect(
            Self.lines([Self.call("Acme Bank")]) == [
                "TIME      FROM          TO            BRAND            DECISION        OUTCOME",
                "2026-01-31, times in UTC",
                "12:00:05  +61255501001  +61255501002  Acme Bank        matched         ANSWERED",
            ])
    }

    @Test(arguments: [
        "Acme", String(repeating: "Very Long Brand ", count: 9), "株式会社エヌ・ティ・ティ・ドコモ関西支社",
        "👨‍👩‍👧‍👦👨‍👩‍👧‍👦 Family & Co and more of it",
        "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301} Café de la Gare", "\u{202E}\u{1B}[2Jevil\r\nline",
    ])
    func `no line is wider than 80 columns, and numbers stay whole`(brand: String) {
        let calls = [
            Self.call(brand, customer: "a-customer-with-a-long-name"),
            Self.call(brand, decision: "gated:voip_dialer_disabled", caller: 123_456_789_012_345),
            Self.call(nil, decision: "number_unclear", outcome: "ANSWERED_ELSEWHERE"),
        ]
        let lines = Self.lines(calls)
        #expect(lines.count == 5, "\(lines)")
        for line in lines { #expect(TerminalText.width(line) <= 80, "\(line)") }
        #expect(lines[3].contains("+123456789012345  +61255501002"))
        #expect(lines.joined().unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x202E })
    }

    @Test func `a long text in place of a number is cut`() {
        let long = Self.call("Acme Bank", received: String(repeating: "a", count: 200))
        let lines = Self.lines([long, Self.call("Acme Bank")])
        for line in lines { #expect(TerminalText.width(line) <= 80, "\(line)") }
        #expect(lines[2].contains("  aaaaaaaaaaaaaaaaaaaaaaaaa…  +61255501002  Acme"), "\(lines)")
    }

    @Test func `calls that follow keep the columns of the first ones, also without any`() {
        for first in [[], [Self.call("Acme Bank")]] {
            var table = CallTable(.init(), in: .utc)
            let head = table.lines(first)
            let next = table.lines([Self.call("Harbour Dental of Port Jackson", decision: "failed_verification")])
            func column(of word: String, in text: String) -> Int? {
                text.firstRange(of: word).map { text.distance(from: text.startIndex, to: $0.lowerBound) }
            }
            let line = next.split(separator: "\n").last.map(String.init) ?? ""
            #expect(column(of: "failed_", in: line) == column(of: "DECISION", in: head))
            #expect(TerminalText.width(line) <= 80, "\(line)")
        }
    }

    @Test func `each new day of the wall has its date, and a change of the clock its zone`() throws {
        // 2026-11-01 in New York: 05:59:59 UTC is 01:59:59 EDT, a second later it is 01:00:00 EST.
        let change: Int64 = 1_793_512_800_000_000
        let zone = LocalZone { seconds in
            let isSummer = seconds * 1_000_000 < change
            return .init(seconds: isSummer ? -14_400 : -18_000, name: isSummer ? "EDT" : "EST")
        }
        let times = [change - 7_200_000_000 * 2, change - 1_000_000, change, change + 86_400_000_000]
        let lines = Self.lines(times.map { Self.call("Acme", at: $0) }, in: zone)
        #expect(
            lines.filter { $0.contains("times in") } == [
                "2026-10-31, times in EDT (UTC-04:00)", "2026-11-01, times in EDT (UTC-04:00)",
                "2026-11-01, times in EST (UTC-05:00)", "2026-11-02, times in EST (UTC-05:00)",
            ])
        #expect(lines.contains { $0.hasPrefix("01:59:59") } && lines.contains { $0.hasPrefix("01:00:00") })
    }

    @Test func `a wide table has all facts whole, and both times`() {
        let name = String(repeating: "long ", count: 20)
        let wide = Self.lines([Self.call(name)], .init(isWide: true), in: .fixed(3600, "CET"))
        #expect(
            wide[0].split(separator: " ") == [
                "TIME", "UTC", "DIRECTION", "TRUNK", "FROM", "TO", "BRAND", "DECISION", "OUTCOME", "RING", "TALK",
                "EVENTS",
            ])
        #expect(wide[1].hasPrefix("2026-01-31T13:00:05+01:00  2026-01-31T12:00:05Z  inbound    carrier"))
        #expect(wide[1].contains(name.dropLast()))
        let titles = Self.lines([Self.call("Acme")], .init(isWide: true))[0].split(separator: " ")
        #expect(!titles.contains("UTC"))
    }

    @Test func `colour is for a terminal alone`() {
        let calls = [Self.call("Acme"), Self.call(nil, decision: "no_match")]
        #expect(!Self.lines(calls).joined().contains("\u{1B}"))
        let coloured = Self.lines(calls, .init(isColoured: true))
        #expect(coloured[2].hasPrefix("\u{1B}[32m12:00:05") && coloured[2].hasSuffix("\u{1B}[0m"))
        #expect(!coloured[3].contains("\u{1B}"))
    }
}

extension LedgerCallRow {
    /// The same call as one of a gateway without a shared ledger.
    fileprivate var withoutNode: LedgerCallRow {
        var call = self
        call.node = nil
        return call
    }
}
