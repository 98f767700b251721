// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing
import Trust
import TrustFixtures

@Suite("Names by a door: those of a call on the same trunk")
struct DoorNamesTests {
    typealias Options = GatewayUnderTest.Options

    private static let brand = #"Acme "Bank""#

    private func door(_ gateway: GatewayUnderTest, trunk: String = "carrier") -> DoorNames {
        DoorNames(gateway.shared.settings, gateway.branding, gateway.shared.trust, trunk: trunk)
    }

    private func stated(_ number: String, name: String = "", called: String = "", verstat: String = "") -> StatedCall {
        StatedCall(
            number: Array(number.utf8), name: Array(name.utf8), called: Array(called.utf8),
            attestation: Array(verstat.utf8))
    }

    private func gateway(_ change: (inout Options) -> Void = { _ in }) throws -> GatewayUnderTest {
        var options = Options()
        change(&options)
        return try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
    }

    /// A setting of the trunk, and the attestation of the call.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var verstat = ""
        var name = "Carrier"
        var options: @Sendable (inout Options) -> Void = { _ in }
    }

    static let rows: [Row] = [
        Row(testDescription: "standard"),
        Row(testDescription: "standard, full", verstat: "TN-Validation-Passed-A"),
        Row(testDescription: "standard, gateway", verstat: "TN-Validation-Passed-C"),
        Row(testDescription: "standard, failed", verstat: "TN-Validation-Failed"),
        Row(testDescription: "strict, nothing", options: { $0.policy = .strict }),
        Row(testDescription: "strict, full", verstat: "TN-Validation-Passed", options: { $0.policy = .strict }),
        Row(
            testDescription: "strict, partial", verstat: "TN-Validation-Passed-B", options: { $0.policy = .strict }),
        Row(
            testDescription: "permissive, gateway", verstat: "TN-Validation-Passed-C",
            options: { $0.policy = .permissive }),
        Row(testDescription: "untrusted", options: { $0.isTrusted = false }),
        Row(
            testDescription: "untrusted, full", verstat: "TN-Validation-Passed-A", options: { $0.isTrusted = false }),
        Row(testDescription: "anonymous name", name: "Anonymous"),
        Row(
            testDescription: "names kept",
            options: {
                $0.carrierName = .keep; $0.hasLogoAndReason = false
            }),
        Row(
            testDescription: "names filled",
            options: {
                $0.carrierName = .fill; $0.hasLogoAndReason = false
            }),
        Row(testDescription: "names filled, none", name: "", options: { $0.carrierName = .fill }),
        Row(testDescription: "names filled, a number", name: "0491 570 156", options: { $0.carrierName = .fill }),
        Row(testDescription: "names filled, a word for none", name: "Out of Area", options: { $0.carrierName = .fill }),
        Row(testDescription: "cap reached", options: { $0.gates = BrandingGates(capReached: true) }),
        Row(testDescription: "account closed", options: { $0.gates = BrandingGates(accountStatus: "closed") }),
        Row(testDescription: "old records", options: { $0.gates = BrandingGates(isStale: true) }),
        Row(testDescription: "brand of another number", options: { $0.brandNumbers = [] }),
    ]

    @Test(arguments: rows) func `a call and a door have the same name and reason`(_ row: Row) throws {
        var options = Options()
        row.options(&options)
        let numbers = try options.brandNumbers ?? [#require(E164Number("+61491570156"))]
        let gateway = try GatewayUnderTest(numbers: numbers, options: options)
        let parameter = row.verstat.isEmpty ? "" : ";verstat=\(row.verstat)"
        let invite = request("INVITE", from: row.name.isEmpty ? "" : "\"\(row.name)\" ")
            .replacing("@carrier.example>", with: "@carrier.example\(parameter)>")
        let sent = try #require(gateway.receive(invite, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let isBranded = sent.contains(#"From: "Acme \"Bank\"" <"#)

        let named = door(gateway).name(of: stated("+61491570156", name: row.name, verstat: row.verstat))

        #expect(named.isBranded == isBranded, "\(sent)")
        #expect(named.text == (isBranded ? Self.brand : row.name))
        #expect(named.brandID == (isBranded ? "acme" : nil))
        if let reason = named.reason { #expect(gateway.counters.count(reason) == 1, "\(reason)") }
    }

    @Test(arguments: [
        "+61491570156", " 61491570156", "61491570156", "0491570156", "+61 491 570 156", "(04) 9157-0156",
        "0011 61 491570156", "+61491570156 ",
    ])
    func `a number is read in every form that clients send`(text: String) throws {
        let named = try door(gateway()).name(of: stated(text))
        #expect(named.isBranded && named.number?.description == "+61491570156")
    }

    @Test(arguments: [
        "", "61", "+", "%2B61491570156", "[NUMBER]", "491570156x", "sip:+61491570156@c.example", "*67491570156",
        String(repeating: "6", count: 10_000), "+61491570156\u{0}", "../61491570156",
    ])
    func `a text that is no number has no brand, and keeps its name`(text: String) throws {
        let named = try door(gateway()).name(of: stated(text, name: "Reception"))
        #expect(named.reason == .numberUnclear && named.text == "Reception" && named.number == nil)
    }

    @Test(arguments: ["anonymous", "Restricted", "0000000", "private", "+266696687"])
    func `a withheld caller has no brand and no number`(text: String) throws {
        let named = try door(gateway()).name(of: stated(text))
        #expect(named.reason == .privacy && named.number == nil && named.text.isEmpty)
    }

    @Test(arguments: ["Anonymous", "\"Anonymous\"", " \" anonymous \" ", "\"Private\"", "\"Number Withheld\""])
    func `a name that is a word for nobody withholds the number, also in quotes`(name: String) throws {
        let named = try door(gateway()).name(of: stated("+61491570156", name: name))
        #expect(named.reason == .privacy && named.number == nil && named.brandID == nil)
    }

    @Test(arguments: ["\"", "\"\"", "\"Anonymous", "\"Reception\""])
    func `other quotes withhold nothing`(name: String) throws {
        #expect(try door(gateway()).name(of: stated("+61491570156", name: name)).isBranded)
    }

    // MARK: The present name

    static let names: [(name: String, text: String)] = [
        ("AT&T #1", "AT&T #1"), ("100% Pure", "100 percent Pure"), ("${SHELL(id)}", "{SHELL(id)}"),
        ("Two\r\nLines\u{0}", "Two Lines"), ("\u{1B}[31mRed", "[31mRed"), ("  Harbour  ", "Harbour"),
        ("\u{202E}laH", "laH"), (String(repeating: "ä", count: 2_000), String(repeating: "ä", count: 40)),
        ("Zahnärzte am Hafen", "Zahnärzte am Hafen"),
    ]

    @Test(arguments: names) func `a present name stays, on one line and within its limit`(
        name: String, text: String
    ) throws {
        #expect(try door(gateway()).name(of: stated("+61491570999", name: name)).text == text)
    }

    // MARK: Routes and customers

    private func routes(_ unmatched: UnmatchedCalls = .trunk) throws -> (inout Options) -> Void {
        var builder = BrandIndexBuilder(profile: RenderingProfile(), generation: 1, expectedCount: 1)
        builder.add(
            BrandRecord(
                number: try #require(E164Number("+61491570156")), name: "Own Brand", brandID: "own", logoURL: "",
                callReason: "", updatedAt: "2026-01-01T00:00:00Z"))
        let own = CurrentBranding(BrandingSnapshot(index: builder.finish(), gates: BrandingGates()))
        var table = CalledNumberTable()
        _ = table.add(.number(try #require(E164Number("+61255502001"))), route: 0)
        _ = table.add(.number(try #require(E164Number("+61255502002"))), route: 1)
        _ = table.add(.number(try #require(E164Number("+61255502003"))), route: 2)
        let routes = CallRoutes(
            [
                CallRoute(name: "own", customer: CallCustomer(name: "own", branding: own)),
                CallRoute(name: "plain", brands: false), CallRoute(name: "strict", policy: .strict),
            ], table: table, unmatched: unmatched)
        return { $0.routes = { _ in routes } }
    }

    @Test(arguments: [
        ("", DoorNamesTests.brand), ("+61255502001", "Own Brand"), ("0255502001", "Own Brand"),
        ("61255502001", "Own Brand"), ("+61255502002", "Carrier"), ("+61255502003", "Carrier"),
        ("+61255509999", DoorNamesTests.brand), ("000", "Carrier"), ("[DID]", DoorNamesTests.brand),
    ])
    func `the called number chooses the route and the customer`(called: String, text: String) throws {
        let gateway = try gateway(routes())
        #expect(door(gateway).name(of: stated("+61491570156", name: "Carrier", called: called)).text == text)
    }

    /// The digits are a number in Utah and one in Austria.
    @Test(arguments: ["4355551234", "+14355551234", "14355551234", " 14355551234"])
    func `a called number with two readings has the route of its region, as in a call`(called: String) throws {
        var table = CalledNumberTable()
        _ = table.add(.number(try #require(E164Number("+14355551234"))), route: 0)
        let routes = CallRoutes([CallRoute(name: "plain", brands: false)], table: table, unmatched: .trunk)
        let gateway = try gateway { options in
            (options.region, options.routes) = ("US", { _ in routes })
        }
        let named = door(gateway).name(of: stated("+61491570156", called: called))
        #expect(named.reason == .policy && named.number?.description == "+61491570156")
    }

    @Test func `a call that its trunk rejects for want of a route has no brand by a door`() throws {
        let gateway = try gateway(routes(.reject))
        #expect(door(gateway).name(of: stated("+61491570156")).reason == .policy)
        #expect(door(gateway).name(of: stated("+61491570156", called: "+61255502001")).isBranded)
    }

    // MARK: Snapshots and settings

    @Test func `a door reads the snapshot and the settings of this instant`() throws {
        let gateway = try gateway()
        let door = door(gateway)
        #expect(door.name(of: stated("+61491570156")).isBranded)
        gateway.branding.store(
            BrandingSnapshot(index: gateway.index, gates: BrandingGates(brandingEnabled: false)))
        #expect(door.name(of: stated("+61491570156")).reason == .gatedBrandingDisabled)
        gateway.branding.store(BrandingSnapshot(index: gateway.index, gates: BrandingGates()))
        var strict = Options()
        strict.policy = .strict
        gateway.reload(strict)
        #expect(door.name(of: stated("+61491570156")).reason == .policy)
        #expect(self.door(gateway, trunk: "removed").name(of: stated("+61491570156")).reason == .untrusted)
    }

    @Test func `a door leaves no trace on the call path`() throws {
        let gateway = try gateway()
        _ = door(gateway).name(of: stated("+61491570156"))
        #expect(gateway.updates().isEmpty && gateway.counters.count(.callsBranded) == 0)
        #expect(gateway.counters.count(.inboundCalls) == 0 && gateway.transactions == 0)
    }

    // MARK: Signed calls

    @Test(
        arguments: [
            TrustRegime.Names.directoryFirst, .directoryOnly, .rcdFirst, .rcdOnly, .mustAgree,
        ], [TrunkSignatures.Source.ownFirst, .ownOnly])
    func `a door names a caller as a call without Identity`(
        names: TrustRegime.Names, source: TrunkSignatures.Source
    ) throws {
        for (mode, isTrusted) in [(TrunkSignatures.Mode.decide, true), (.shadow, true), (.decide, false)] {
            var setting = SignedCallSetting(mode: mode, isTrusted: isTrusted)
            setting.rules = { ($0.names, $0.source) = (names, source) }
            let gateway = try setting.gateway()
            let sent = try #require(
                gateway.receive(SignedInvite().text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
            let named = door(gateway).name(of: stated("+12025551000"))
            #expect(named.isBranded == sent.contains("From: \"Acme"), "\(mode) \(isTrusted)")
            if let reason = named.reason { #expect(gateway.counters.count(reason) == 1, "\(reason)") }
        }
    }
}
