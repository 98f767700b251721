// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import GatewayOperator
@testable import GatewayStore

/// The tables of the gateway's commands with long and hostile values.
@Suite("Width of the gateway's tables")
struct TableWidthTests {
    private static let values = [
        "acme", String(repeating: "a long value ", count: 30), "株式会社エヌ・ティ・ティ・ドコモ関西支社",
        "\u{202E}\u{1B}[2Jevil\r\nline\u{9B}31m", "",
    ]

    private static func expectNarrow(_ table: String, rows: Int) {
        let lines = table.split(separator: "\n")
        #expect(lines.count == rows, "\(table)")
        for line in lines { #expect(TerminalText.width(String(line)) <= 80, "\(line)") }
        #expect(
            table.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 32 && $0.value != 0x202E && $0.value != 0x9B })
    }

    @Test func `targets`() {
        let targets = Self.values.map {
            GatewayStatus.Target(
                group: "pbx \($0)", address: "[2001:db8:1234:5678:9abc:def0:1234:5678]:5060", state: "disabled",
                takesCalls: false, since: 1, cause: $0, lastResponse: 2, calls: 100_000, callsSent: 1 << 60)
        }
        Self.expectNarrow(GatewayOrders.table(of: targets, .narrow, at: 1_769_860_800), rows: 6)
        let usual = GatewayStatus.Target(
            group: "pbx office", address: "192.0.2.20:5060", state: "up", takesCalls: true, since: 1,
            cause: "a call got 503 Service Unavailable", lastResponse: 2, calls: 12, callsSent: 3_400)
        let narrow = GatewayOrders.table(of: [usual], .narrow, at: 61)
        #expect(narrow.hasPrefix("GROUP       ADDRESS          STATE  SINCE") && !narrow.contains("CALLS SENT"))
        let wide = GatewayOrders.table(of: [usual], .wide, at: 61)
        #expect(wide.contains("CALLS SENT") && wide.contains("a call got 503 Service Unavailable\n"))
    }

    @Test func `customers`() {
        let customers = Self.values.map {
            GatewayStatus.Customer(
                name: $0, directory: $0, numbers: 1_000_000, brands: 90_000, sharesAccountOf: $0, problem: $0,
                syncAge: 90_000, outbox: EventBacklog(waiting: 123_456, refused: 9), calls: 1 << 40, branded: 1 << 39)
        }
        Self.expectNarrow(CustomerListing.table(customers, of: 5, .narrow), rows: 6)
        #expect(CustomerListing.table(customers, of: 5, .wide).contains("ACCOUNT"))
    }

    @Test func `signers by calls`() {
        let calls = Self.values.map {
            ProviderCalls(
                provider: $0, outcomes: ["ANSWERED": 1_000_000, "MISSED": 2, "BLOCKED": 3, "FAILED": 4],
                total: 1_000_009,
                attestations: [1_000_000, 9, 4], short: 12, unwanted: 3)
        }
        Self.expectNarrow(SignedCallsListing(calls: calls, new: []).text(.narrow), rows: 6)
    }
}
