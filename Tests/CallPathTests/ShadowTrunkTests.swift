// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing
import Trust
import TrustFixtures

/// Requirements: in shadow the rules run, their result is recorded, and traffic is that of a gateway without them.
///
/// The term is that of Envoy's `shadow_rules`, which "won't effect real users" and count what they would have done.
@Suite("A trunk in shadow")
struct ShadowTrunkTests {
    typealias Options = GatewayUnderTest.Options

    private static let brand = E164Number("+61491570156")
    private static let trunk = GatewayUnderTest.trunk
    private static let pbx = GatewayUnderTest.pbx

    private func gateway(_ brands: BrandMode, _ change: (inout Options) -> Void = { _ in }) throws -> GatewayUnderTest {
        var options = Options()
        options.brands = brands
        change(&options)
        let numbers = try options.brandNumbers ?? [#require(Self.brand)]
        return try GatewayUnderTest(numbers: numbers, options: options)
    }

    /// The first update of a gateway with its texts.
    private func first(_ gateway: GatewayUnderTest) throws -> (update: CallUpdate, texts: CallTexts?) {
        var found: (CallUpdate, CallTexts?)?
        _ = gateway.ring.read(after: 0, limit: 10) { update, texts in found = found ?? (update, texts) }
        return try #require(found)
    }

    // MARK: The bytes that leave

    @Test(arguments: InviteCorpus.rows)
    func `INVITEs of many makers leave as with brands off, and are decided as with brands on`(
        row: InviteCorpus.Row
    ) throws {
        let numbers = InviteCorpus.rows.compactMap(\.number)
        let shadow = try gateway(.shadow) { $0.brandNumbers = numbers }
        let off = try gateway(.off) { $0.brandNumbers = numbers }
        let bytes = try row.bytes
        let sent = shadow.receive(bytes, from: Self.trunk).requests("INVITE")
        #expect(sent == off.receive(bytes, from: Self.trunk).requests("INVITE") && sent.count == 1)
        let reason = try first(shadow).update.reason
        #expect(reason?.description == (row.decision == "matched" ? "shadow" : row.decision))
        #expect(shadow.counters.count(.callsBranded) == 0)
    }

    /// A setting of the trunk, and header lines of the call.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var name = #""Carrier" "#
        var lines = ""
        var options: @Sendable (inout Options) -> Void = { _ in }
    }

    private static let asserted = "P-Asserted-Identity: \"Carrier\" <sip:+61491570156@c.example>\n"
    private static let attested = asserted + "P-Attestation-Indicator: A\n"

    static let rows: [Row] = [
        Row(testDescription: "a brand"),
        Row(testDescription: "no name of the carrier", name: ""),
        Row(testDescription: "a brand with its name alone", options: { $0.hasLogoAndReason = false }),
        Row(testDescription: "the carrier's name stays", options: { $0.carrierName = .keep }),
        Row(
            testDescription: "the carrier's name stays, and nothing else is written",
            options: {
                $0.carrierName = .keep; $0.hasLogoAndReason = false
            }),
        Row(testDescription: "the carrier's name is filled", name: "", options: { $0.carrierName = .fill }),
        Row(testDescription: "anonymous", lines: asserted + "Privacy: id\n"),
        Row(testDescription: "anonymous by name", name: #""Anonymous" "#),
        Row(testDescription: "an untrusted trunk", lines: asserted, options: { $0.isTrusted = false }),
        Row(
            testDescription: "forged fields of an untrusted trunk",
            lines: asserted + "Call-Info: <https://evil.example/l.png>;purpose=icon\n"
                + "P-Preferred-Identity: \"Acme Bank\" <sip:+61491570156@c.example>\n",
            options: {
                $0.isTrusted = false; $0.keepsForeignCallInfo = false
            }),
        Row(
            testDescription: "forged fields of a trusted trunk",
            lines: asserted + "Call-Info: <https://evil.example/l.png>;purpose=icon\n"),
        Row(testDescription: "an asserted number", lines: asserted),
        Row(testDescription: "a failed check", lines: "Attestation-Info: Failed\n" + asserted),
        Row(testDescription: "a number without a brand", options: { $0.brandNumbers = [] }),
        Row(testDescription: "a closed gate", options: { $0.gates = BrandingGates(capReached: true) }),
        Row(testDescription: "an emergency call", lines: "Priority: emergency\n"),
        Row(
            testDescription: "an emergency call, and verstat is written", lines: attested + "Priority: emergency\n",
            options: { $0.verstat = .full }),
        Row(
            testDescription: "a call that takes the place of another, and verstat is written",
            lines: attested + "Replaces: a@b;to-tag=1;from-tag=2\n", options: { $0.verstat = .full }),
        Row(testDescription: "verstat is written", lines: attested, options: { $0.verstat = .full }),
        Row(testDescription: "a header with the trunk's name", options: { $0.trunkHeader = "X-Herald-Trunk" }),
    ]

    /// The evidence of a call in shadow is that of the call with brands, whatever the target's datagrams take.
    @Test(arguments: rows) func `a call leaves as with brands off, and its record is that of a call with brands`(
        row: Row
    ) throws {
        for size in [nil] + stride(from: 1000, through: 300, by: -50).map(Optional.some) {
            let invite = request("INVITE", from: row.name, extra: row.lines)
            let all = try [BrandMode.on, .shadow, .off].map { mode in
                let gateway = try gateway(mode) { options in
                    row.options(&options)
                    options.largestDatagram = size
                }
                let sent = gateway.receive(invite, from: Self.trunk).to(Self.pbx)
                return (sent: sent, gateway: gateway, report: try first(gateway))
            }
            let (on, shadow, off) = (all[0], all[1], all[2])
            #expect(shadow.sent == off.sent, "\(size ?? 0)")
            let isBranded = on.report.update.reason == nil
            #expect(shadow.report.update.reason == (isBranded ? .shadow : on.report.update.reason), "\(size ?? 0)")
            #expect(shadow.report.texts == on.report.texts, "\(size ?? 0)")
            var evidence = try #require(shadow.report.update.evidence)
            #expect(evidence.isInShadow)
            evidence.isInShadow = false
            #expect(evidence == on.report.update.evidence, "\(size ?? 0)")
            #expect(shadow.gateway.counters.count(.callsBranded) == 0)
            for counter in [GatewayCounters.Event.logosTrimmed, .reasonsTrimmed, .namesTrimmed] {
                #expect(shadow.gateway.counters.count(counter) == 0)
            }
            if isBranded {
                #expect(shadow.gateway.counters.count(.shadow) == 1)
                #expect(!shadow.sent.joined().contains("Acme") && !shadow.sent.joined().contains("logos.example"))
            }
        }
    }

    /// An emergency call and one that takes the place of another have no mark, with brands on and off.
    @Test(arguments: BrandMode.allCases, ["Priority: emergency\n", "Replaces: a@b;to-tag=1;from-tag=2\n", ""])
    func `the mark of a verification depends on the call, and on no brand`(mode: BrandMode, line: String) throws {
        let gateway = try gateway(mode) { $0.verstat = .full }
        let invite = request("INVITE", extra: Self.attested + line)
        let sent = try #require(gateway.receive(invite, from: Self.trunk).to(Self.pbx).first)
        #expect(sent.contains(";verstat=") == line.isEmpty)
    }

    @Test func `brands off are a policy, with the trunk as its cause`() throws {
        let gateway = try gateway(.off)
        _ = gateway.receive(request("INVITE"), from: Self.trunk)
        let update = try first(gateway).update
        #expect(update.reason == .policy && update.evidence?.isTrunkUnbranded == true)
        #expect(update.evidence?.isInShadow == false && update.evidence?.isRouteUnbranded == false)
    }

    // MARK: Signed calls

    @Test(arguments: TrustLab.shared.cases.filter { $0.sequence == nil })
    func `a signed call leaves as with brands off`(_ item: TrustLab.Case) throws {
        for isTrusted in [false, true] {
            let sent = try [BrandMode.shadow, .off].map { mode in
                var setting = SignedCallSetting(
                    regime: item.regime, isTrusted: isTrusted, known: item.known, seconds: item.now)
                setting.options = { $0.brands = mode }
                return try setting.call(SignedInvite(item)).sent
            }
            #expect(sent[0] == sent[1])
        }
    }

    @Test(arguments: [true, false]) func `a signed name is recorded and not written`(hasBrand: Bool) throws {
        let invite = SignedInvite(
            identity: [try SignedClaims().field()], from: "\"WIRELESS\" <sip:+12025551000@carrier.example>")
        var setting = SignedCallSetting()
        setting.rules = { $0.names = .rcdFirst }
        setting.options = {
            $0.brands = .shadow
            if !hasBrand { $0.brandNumbers = [] }
        }
        let gateway = try setting.gateway()
        let sent = try #require(gateway.receive(invite.text, from: Self.trunk).to(Self.pbx).first)
        #expect(sent.contains("\"WIRELESS\"") && !sent.contains("Acme"))
        let (update, texts) = try first(gateway)
        // No name was written, so the verdict has no origin of one.
        #expect(update.trust?.nameOrigin == NameOrigin.none)
        let record = CallRecord(update, texts: texts, trunk: "carrier")
        #expect(update.reason == .shadow && record.isNamedBySigner && record.brandInShadow == nil)
        #expect(texts.map { String(decoding: $0.brandName, as: UTF8.self) } == "Acme Signed")
    }

    /// The carrier's name stays, and the signed reason would be written beside it.
    @Test(arguments: [CarrierNamePolicy.keep, .fill])
    func `values of a signature are no brand where the carrier's name stays`(carrierName: CarrierNamePolicy) throws {
        let invite = SignedInvite(
            identity: [try SignedClaims(reason: "Delivery").field()],
            from: "\"WIRELESS\" <sip:+12025551000@carrier.example>")
        var setting = SignedCallSetting(isTrusted: true)
        setting.rules = { $0.names = .rcdFirst }
        setting.options = {
            $0.brands = .shadow
            $0.carrierName = carrierName
            $0.brandNumbers = []
        }
        let gateway = try setting.gateway()
        _ = gateway.receive(invite.text, from: Self.trunk)
        let (update, texts) = try first(gateway)
        let record = CallRecord(update, texts: texts, trunk: "carrier")
        #expect(update.reason == .shadow && update.evidence?.isNamed == false)
        #expect(record.isNamedBySigner && record.brandInShadow == nil && record.brandID == nil)
    }

    // MARK: Trunk and route

    /// Rows: the trunk. Columns: the route on, in shadow, off.
    @Test(
        arguments: [
            (BrandMode.on, [nil, PassThroughReason.shadow, .policy]), (.shadow, [.shadow, .shadow, .policy]),
            (.off, [.policy, .policy, .policy]),
        ] as [(BrandMode, [PassThroughReason?])])
    func `of trunk and route the mode with less effect counts, in line and by a door`(
        trunk: BrandMode, reasons: [PassThroughReason?]
    ) throws {
        for (route, reason) in zip(BrandMode.allCases, reasons) {
            var table = CalledNumberTable()
            _ = table.add(.number(try #require(E164Number("+61255502000"))), route: 0)
            let gateway = try gateway(trunk) { options in
                options.routes = { [table] _ in CallRoutes([CallRoute(name: "acme", brands: route)], table: table) }
            }
            let invite = request("INVITE").replacing("sip:100@192.0.2.20 SIP", with: "sip:+61255502000@192.0.2.20 SIP")
            let sent = try #require(gateway.receive(invite, from: Self.trunk).to(Self.pbx).first)
            #expect(try first(gateway).update.reason == reason, "\(trunk) \(route)")
            #expect(sent.contains("Acme") == (reason == nil), "\(trunk) \(route)")
            let door = DoorNames(gateway.shared.settings, gateway.branding, gateway.shared.trust, trunk: "carrier")
            let named = door.name(
                of: StatedCall(
                    number: Array("+61491570156".utf8), name: Array("Carrier".utf8), called: Array("+61255502000".utf8))
            )
            #expect(named.reason == reason && named.isBranded == (reason == nil), "\(trunk) \(route)")
            #expect(
                named.text == (reason == nil ? "Acme \"Bank\"" : "Carrier") && (named.brandID == nil) == (reason != nil)
            )
            let redirected = Redirected(invite, by: gateway)
            #expect(redirected.event == (reason.map { .unmatched($0) } ?? .matched), "\(trunk) \(route)")
            #expect(redirected.text.contains("Acme") == (reason == nil), "\(trunk) \(route)")
        }
    }

    // MARK: A reload in between

    /// A later request of the trunk in the dialog that an INVITE to the PBX began.
    private func later(_ method: String, in invite: String) -> String {
        let routes = invite.split(separator: "\r\n").filter { $0.hasPrefix("Record-Route: ") }
            .map { "Route: \($0.dropFirst(14))\n" }.joined()
        return request(method, extra: routes, toTag: ";tag=p", branch: "later\(method)", sequence: 2)
    }

    @Test(arguments: [(BrandMode.shadow, BrandMode.on), (.on, .shadow)])
    func `a call in progress keeps the name that it began with`(before: BrandMode, after: BrandMode) throws {
        let gateway = try gateway(before)
        let invite = try #require(gateway.receive(request("INVITE"), from: Self.trunk).to(Self.pbx).first)
        let isNamed = before == .on
        #expect(invite.contains("Acme") == isNamed)
        var next = Options()
        next.brands = after
        gateway.reload(next)
        #expect(gateway.receive(request("INVITE"), from: Self.trunk).to(Self.pbx).isEmpty, "a retransmission")
        let ok = try #require(gateway.receive(response("200 OK", to: invite), from: Self.pbx).to(Self.trunk).first)
        #expect(ok.contains(#"From: "Carrier" <"#) && !ok.contains("Acme"))
        for method in ["INVITE", "UPDATE"] {
            let sent = try #require(gateway.receive(later(method, in: invite), from: Self.trunk).to(Self.pbx).first)
            #expect(sent.contains("Acme") == isNamed, "\(method)")
        }
        let another = request("INVITE", branch: "2").replacing("story@", with: "next@")
        let sent = try #require(gateway.receive(another, from: Self.trunk).to(Self.pbx).first)
        #expect(sent.contains("Acme") == (after == .on))
        let reasons = gateway.updates().filter { $0.kind == .invite }.map(\.reason)
        #expect(reasons == (before == .on ? [nil, .shadow] : [.shadow, nil]))
    }

    // MARK: Test calls and simulations

    @Test func `a test call has the trunk's mode`() throws {
        let caller = PeerAddress(ipv4: 0x7F00_0001, port: 40_711)
        let invite = request("INVITE").replacing("203.0.113.5:5060", with: "127.0.0.1:40711")
        let sent = try [BrandMode.on, .shadow, .off].map { mode in
            let gateway = try gateway(mode)
            var options = Options()
            options.brands = mode
            gateway.admitTest(caller, options)
            let sent = try #require(gateway.receive(invite, from: caller).to(Self.pbx).first)
            #expect(gateway.updates().isEmpty && gateway.counters.count(.shadow) == 0)
            return sent
        }
        #expect(sent[0].contains("Acme") && sent[1] == sent[2] && !sent[1].contains("Acme"))
    }

    @Test func `a simulation shows the decision and the INVITE without a brand`() throws {
        let gateway = try gateway(.shadow)
        let bytes = Array(request("INVITE").replacing("\n", with: "\r\n").utf8)
        let settings = gateway.shared.settings.load()
        let simulation = try CallSimulation(bytes, by: Flow(source: Self.trunk, socket: 0), settings)
        let result = simulation.run(gateway.branding.load(), updates: gateway.ring, at: gateway.now)
        #expect(result.passThrough == .shadow && !result.isBranded && result.decided?.reason == .shadow)
        #expect(result.decided?.evidence.isNamed == true)
        #expect(result.sent.map { String(decoding: $0, as: UTF8.self).contains("Acme") } == false)
    }
}
