// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayStore
import Primitives
import Testing

@testable import GatewayOperator

@Suite("The filter of calls")
struct CallQueryTests {
    private static let now: Int64 = 1_769_860_800  // 2026-01-31T12:00:00Z
    private static let gates: Set = [
        "gated:unauthorised", "gated:account_status", "gated:branding_disabled", "gated:voip_dialer_disabled",
        "gated:cap_reached",
    ]

    private static func query(_ values: [CallQuery.Field: String]) -> CallQuery {
        values.reduce(into: CallQuery()) { $0[$1.key] = $1.value }
    }

    private static func filter(_ values: [CallQuery.Field: String]) throws -> CallFilter {
        try query(values).filter(now: now, in: .utc)
    }

    private static func problem(_ values: [CallQuery.Field: String]) -> String? {
        #expect(throws: CallQueryProblem.self) { try filter(values) }?.ofOption
    }

    @Test func `a query without parts selects all calls, as empty parts do`() throws {
        #expect(try Self.filter([:]) == CallFilter())
        let empty = Dictionary(uniqueKeysWithValues: CallQuery.Field.allCases.map { ($0, "") })
        #expect(try Self.filter(empty) == CallFilter())
        #expect(Self.query(empty) == CallQuery())
    }

    @Test func `the options and the parameters have the agreed names`() {
        #expect(
            CallQuery.Field.allCases.map(\.rawValue) == [
                "decision", "reason", "outcome", "brand", "trunk", "customer", "number", "name", "call_id", "provider",
                "since", "until",
            ])
        #expect(CallQuery.Field.callID.option == "--call-id")
    }

    @Test(
        arguments: [
            ([.decision: "branded"], ["matched"]), ([.decision: "Matched"], ["matched"]),
            ([.decision: "no-match"], ["no_match"]), ([.reason: "NO_MATCH"], ["no_match"]),
            ([.reason: "gated"], gates), ([.reason: "gated:cap_reached"], ["gated:cap_reached"]),
            ([.decision: "unbranded", .reason: "privacy"], ["privacy"]), ([.decision: "outbound"], ["outbound"]),
        ] as [([CallQuery.Field: String], Set<String>)])
    func `decision and reason select decisions of the ledger`(values: [CallQuery.Field: String], found: Set<String>)
        throws
    {
        #expect(try Self.filter(values).decisions == found)
    }

    @Test func `calls without a brand are those of trunks, for any reason`() throws {
        let reasons = Set(PassThroughReason.allCases.map(\.description)).subtracting(["outbound"])
        #expect(try Self.filter([.decision: "unbranded"]).decisions == reasons)
        for reason in PassThroughReason.allCases.map(\.description) {
            #expect(try Self.filter([.reason: reason]).decisions == [reason])
            #expect(try Self.filter([.decision: reason]).decisions == [reason])
        }
    }

    @Test func `each part reaches the ledger`() throws {
        let filter = try Self.filter([
            .outcome: "answered_elsewhere", .brand: "b-7", .trunk: "carrier", .customer: "acme", .name: "100 % _",
            .callID: "84b4", .provider: "123A", .since: "yesterday", .until: "2026-01-31 10:00",
        ])
        #expect(filter.outcome == "ANSWERED_ELSEWHERE" && filter.brand == "b-7" && filter.trunk == "carrier")
        #expect(filter.customer == "acme" && filter.name == "100 % _" && filter.callIDPart == "84b4")
        #expect(filter.provider == "123A" && filter.since == 1_769_731_200 && filter.until == 1_769_853_659)
        #expect(try Self.filter([.outcome: "open"]).outcome == "OPEN")
        #expect(try CallOutcome.allCases.allSatisfy { try Self.filter([.outcome: $0.rawValue]).outcome == $0.rawValue })
    }

    @Test(arguments: [
        ("+61255501001", "+61255501001", nil), ("+49 (89) 123-456", "+4989123456", nil), ("0110", nil, "0110"),
        ("00110", nil, "00110"), ("0491570110", nil, "491570110"), ("570 110", nil, "570110"), ("110", nil, "110"),
        ("0061491570110", nil, "61491570110"), ("10", nil, nil), ("1a10", nil, nil), ("Anonymous", nil, nil),
        ("%", nil, nil), ("١٢٣٤", nil, nil),
    ])
    func `a number is whole, the end of one, or a text of the carrier`(text: String, whole: String?, end: String?)
        throws
    {
        let filter = try Self.filter([.number: text])
        #expect(filter.number?.description == whole && filter.numberEnd == end && filter.received == text)
    }

    @Test(
        arguments: [
            (
                [.outcome: "mised"],
                "--outcome \"mised\" is unknown; did you mean \"missed\"?; give open, answered"
            ),
            (
                [.decision: "brandet"],
                "--decision \"brandet\" is unknown; did you mean \"branded\"?; give branded"
            ),
            (
                [.reason: "untrustd"],
                "--reason \"untrustd\" is unknown; did you mean \"untrusted\"?; give gated"
            ),
            ([.reason: "matched"], "--reason \"matched\" is unknown"),
            (
                [.decision: "branded", .reason: "privacy"],
                "--reason \"privacy\" is the reason of no call"
            ),
            ([.since: "yesterdya"], "--since \"yesterdya\" is no time; did you mean \"yesterday\"?; give 15m"),
            ([.until: "60"], "--until \"60\" has no unit; write 60s, 60m or 60h"),
            ([.since: "1h", .until: "2h"], "--until \"2h\" ends before 2026-01-31 11:00:00 UTC"),
            ([.number: String(repeating: "1", count: 65)], "--number \"1111"),
            ([.callID: String(repeating: "é", count: 129)], "--call-id \"éééé"),
        ] as [([CallQuery.Field: String], String)])
    func `an error names the value, what is accepted, and what was probably meant`(
        values: [CallQuery.Field: String], problem: String
    ) {
        let found = Self.problem(values) ?? ""
        #expect(found.hasPrefix(problem), "\(found)")
        #expect(found.utf8.count < 700)
    }

    @Test(arguments: [
        "'; DROP TABLE call; --", "\u{202E}evil", "\u{1B}[2J", "a\r\nb", "\u{0}", "<script>", "%00", "\"", "\\",
    ])
    func `a hostile value is refused with its visible form, or searched as it is`(_ value: String) throws {
        for field in [CallQuery.Field.decision, .reason, .outcome, .since, .until] {
            let problem = Self.problem([field: value]) ?? ""
            #expect(problem.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x202E }, "\(problem)")
        }
        #expect(try Self.filter([.name: value]).name == value && Self.filter([.brand: value]).brand == value)
        #expect(try Self.filter([.trunk: value]).trunk == value && Self.filter([.number: value]).received == value)
    }

    @Test func `an unknown trunk or customer has a suggestion`() {
        let customers = KnownCustomers(["acme", "beta"])
        let trunk = Self.query([.trunk: "carier"]).unknownName(trunks: ["carrier", "second"], customers: customers)
        #expect(
            trunk?.ofOption
                == "--trunk \"carier\" selects no call: no trunk has this name; did you mean \"carrier\"?; there are carrier, second"
        )
        let customer = Self.query([.customer: "acmee"]).unknownName(trunks: [], customers: customers)
        #expect(
            customer?.ofParameter == """
                customer "acmee" selects no call: no customer is named acmee; did you mean "acme"?; there are acme, beta
                """)
        #expect(Self.query([.trunk: "second"]).unknownName(trunks: ["second"], customers: customers) == nil)
    }
}
