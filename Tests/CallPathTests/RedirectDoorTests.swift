// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing
import Trust
import TrustFixtures

/// What the redirect door does with one INVITE.
struct Redirected {
    let event: RedirectEvent
    let text: String

    init(
        _ bytes: [UInt8], by gateway: GatewayUnderTest, in place: Redirection.NamePlace = .assertedIdentity,
        unnamed: RedirectDoor.OnwardStatus = .notFound, at seconds: Int64 = 1_800_000_000
    ) {
        let names = DoorNames(gateway.shared.settings, gateway.branding, gateway.shared.trust, trunk: "carrier")
        let door = RedirectDoor(gateway.shared.settings, names, unnamed: unnamed)
        let (event, reply) = door.response(
            to: bytes, from: GatewayUnderTest.trunk, as: .client(place), at: seconds)
        self.event = event
        text = reply.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
    }

    init(
        _ text: String, by gateway: GatewayUnderTest, in place: Redirection.NamePlace = .assertedIdentity,
        unnamed: RedirectDoor.OnwardStatus = .notFound, at seconds: Int64 = 1_800_000_000
    ) {
        let bytes = Array(text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n").utf8)
        self.init(bytes, by: gateway, in: place, unnamed: unnamed, at: seconds)
    }

    var status: String { String(text.prefix { $0 != "\r\n" }) }

    /// The values of the header fields of a name.
    subscript(name: String) -> [String] {
        text.split(separator: "\r\n").filter { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    /// The display name of P-Asserted-Identity, with its escapes; nil without one.
    var name: String? {
        self["P-Asserted-Identity"].first.flatMap { value in
            value.firstMatch(of: /^"((?:[^"\\]|\\.)*)" </).map { String($0.1) }
        }
    }
}

@Suite("The redirect door: the decision of a call on the same trunk")
struct RedirectDoorTests {
    private static let number = "+61491570156"

    private func gateway(
        _ change: (inout GatewayUnderTest.Options) -> Void = { _ in }
    ) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        change(&options)
        let numbers = try options.brandNumbers ?? [#require(E164Number(Self.number))]
        return try GatewayUnderTest(numbers: numbers, options: options)
    }

    // MARK: The same decision

    @Test(arguments: InviteCorpus.rows)
    func `INVITEs of many makers have the decision of a call`(row: InviteCorpus.Row) throws {
        let gateway = try GatewayUnderTest(numbers: InviteCorpus.rows.compactMap(\.number))
        let redirected = Redirected(try row.bytes, by: gateway)
        switch row.decision {
        case "matched":
            #expect(redirected.event == .matched)
            #expect(redirected.status == "SIP/2.0 302 Moved Temporarily")
            let uri = RawMessage(try row.bytes).startLine.split(separator: 32)[1]
            let target = String(decoding: uri, as: UTF8.self)
            #expect(redirected["Contact"] == ["<\(target);herald-redirect>;q=0.99"])
            #expect(redirected.name == #"Acme \"Bank\""#)
            #expect(redirected["Reason"] == [#"SIP;cause=302;text="matched""#])
            // The response is a message that the project's own reader takes, with the number of the call.
            let response = try SIPMessage.index(Array(redirected.text.utf8))
            let field = try #require(response.first(.pAssertedIdentity))
            let uriOfCaller = try #require(NameAddress(response.bytes, field.value)?.uri)
            #expect(!uriOfCaller.user.isEmpty && response.toTag != nil)
        case "emergency" where row.file.hasPrefix("75"): #expect(redirected.event == .unusable)
        default:
            #expect(redirected.event.label == row.decision)
            #expect(redirected.status == "SIP/2.0 404 Not Found")
            #expect(redirected["Contact"].isEmpty && redirected["P-Asserted-Identity"].isEmpty)
        }
        if row.decision == "privacy" { #expect(!redirected.text.contains("Acme")) }
    }

    @Test(arguments: DoorNamesTests.rows)
    func `a call and a redirection have the same name and reason`(_ row: DoorNamesTests.Row) throws {
        let gateway = try gateway(row.options)
        let parameter = row.verstat.isEmpty ? "" : ";verstat=\(row.verstat)"
        let invite = request("INVITE", from: row.name.isEmpty ? "" : "\"\(row.name)\" ")
            .replacing("@carrier.example>", with: "@carrier.example\(parameter)>")
        let redirected = Redirected(invite, by: gateway)
        #expect(gateway.updates().isEmpty && gateway.transactions == 0, "a door leaves no trace on the call path")
        let sent = try #require(gateway.receive(invite, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let isBranded = sent.contains(#"From: "Acme \"Bank\"" <"#)
        #expect((redirected.event == .matched) == isBranded, "\(sent)")
        if case .unmatched(let reason) = redirected.event { #expect(gateway.counters.count(reason) == 1, "\(reason)") }
    }

    /// A call that passes twice through one gateway (RFC 5393 §4).
    @Test func `a call that has passed here before has no brand`() throws {
        let gateway = try gateway()
        let sent = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        #expect(Redirected(sent, by: gateway).event == .unmatched(.alreadyBranded))
    }

    /// A report of the call finds the name; a caller without a brand, or in shadow, leaves none.
    @Test(arguments: [(BrandMode.on, ""), (.on, "Privacy: id\n"), (.shadow, ""), (.off, "")])
    func `reports know the names of redirections`(brands: BrandMode, extra: String) throws {
        let gateway = try gateway { $0.brands = brands }
        let given = GivenNames(now: { 1_800_000_000_000_000 })
        let names = DoorNames(
            gateway.shared.settings, gateway.branding, gateway.shared.trust, trunk: "carrier", given: given)
        let bytes = Array(request("INVITE", extra: extra).replacing("\n", with: "\r\n").utf8)
        let (event, _) = RedirectDoor(gateway.shared.settings, names).response(
            to: bytes, from: GatewayUnderTest.trunk, as: .client(.assertedIdentity), at: 1_800_000_000)
        let found = given.newest(of: try #require(E164Number(Self.number)), in: 0...Int64.max)
        #expect((event == .matched) == (brands == .on && extra.isEmpty))
        #expect(found?.text == (event == .matched ? "Acme \"Bank\"" : nil))
    }

    /// An INVITE that takes over a call (RFC 3891) has no brand, as in line.
    @Test func `a replaced call has no brand`() throws {
        let invite = request("INVITE", extra: "Replaces: other@carrier.example;to-tag=1;from-tag=2\n")
        let gateway = try gateway()
        let event = Redirected(invite, by: gateway).event
        _ = gateway.receive(invite, from: GatewayUnderTest.trunk)
        let reason = try #require(gateway.updates().first?.reason)
        #expect(event == .unmatched(reason))
    }

    // MARK: Signed calls

    private enum Signature: CaseIterable { case verified, same, unverified, other, broken, absent }

    /// Each source of names, on a trusted and an untrusted trunk, where the verdict counts and in shadow.
    @Test(arguments: TrustRegime.Names.allCases, [true, false])
    func `a signed call and its redirection have the same name`(names: TrustRegime.Names, hasBrand: Bool) throws {
        for signature in Signature.allCases {
            let claims = SignedClaims(name: signature == .same ? #"Acme "Bank""# : "Acme Signed")
            let field: String? =
                switch signature {
                case .absent: nil
                case .unverified: try claims.field(attest: "B")
                case .other: try claims.field(orig: "12025559999")
                case .broken: try claims.field().replacing(".", with: ".x")
                case .verified, .same: try claims.field()
                }
            for (mode, isTrusted) in [(TrunkSignatures.Mode.decide, true), (.decide, false), (.shadow, true)] {
                var setting = SignedCallSetting(mode: mode, isTrusted: isTrusted)
                setting.rules = { $0.names = names }
                setting.options = { $0.brandNumbers = hasBrand ? nil : [] }
                let gateway = try setting.gateway()
                let invite = SignedInvite(
                    identity: field.map { [$0] } ?? [], from: "\"WIRELESS\" <sip:+12025551000@carrier.example>")
                let redirected = Redirected(invite.text, by: gateway, at: setting.seconds)
                let sent = try #require(
                    gateway.receive(invite.text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
                let shown = sent.split(separator: "\r\n").first { $0.hasPrefix("From: ") }
                    .flatMap { $0.firstMatch(of: /^From: "((?:[^"\\]|\\.)*)" </).map { String($0.1) } }
                #expect(
                    redirected.name == (shown == "WIRELESS" ? nil : shown), "\(signature) \(mode) \(isTrusted) \(sent)")
                if case .unmatched(let reason) = redirected.event {
                    #expect(gateway.updates().first?.reason == reason, "\(signature) \(mode) \(isTrusted)")
                }
            }
        }
    }

    /// A claim about the number is removed from a call in line: that of an untrusted trunk always, that of a trusted one where the
    /// own verdict is another.
    @Test(
        arguments: [
            ("sip:+12025551000;verstat=TN-Validation-Passed-A@carrier.example", "sip:+12025551000@carrier.example"),
            ("sip:+12025551000;%76erstat=TN-Validation-Passed-A@carrier.example", "sip:+12025551000@carrier.example"),
            ("sip:+12025551000@carrier.example;verstat=TN-Validation-Passed-A", "sip:+12025551000@carrier.example"),
            ("tel:+12025551000;verstat=TN-Validation-Passed-A", "tel:+12025551000"),
            ("sip:+12025551000@carrier.example:5070;user=phone", "sip:+12025551000@carrier.example:5070"),
            ("sips:12025551000@[2001:db8::7]", "sips:12025551000@[2001:db8::7]"),
            ("sip:2025551000;phone-context=+1@carrier.example", "tel:+12025551000"),
            ("sip:+1-202-555-1000@carrier.example", "tel:+12025551000"),
        ], [true, false])
    func `the caller's URI has number and host alone`(uris: (received: String, sent: String), isTrusted: Bool) throws {
        let setting = SignedCallSetting(isTrusted: isTrusted)
        let invite = SignedInvite(identity: [try SignedClaims().field(attest: "B")], from: "<\(uris.received)>")
        for place in [Redirection.NamePlace.assertedIdentity, .contact] {
            let redirected = Redirected(invite.text, by: try setting.gateway(), in: place, at: setting.seconds)
            #expect(redirected.event == .matched)
            guard place == .assertedIdentity else {
                #expect(redirected["Contact"].count == 1 && !redirected["Contact"][0].contains("erstat"))
                continue
            }
            #expect(redirected["P-Asserted-Identity"] == [#""Acme \"Bank\"" <\#(uris.sent)>"#])
        }
    }

    /// White space behind a URI is read over, and would become a line of the response.
    @Test(arguments: [
        ("sip:+12025551000@carrier.example\r\n ", "sip:+12025551000@carrier.example"),
        ("sip:+12025551000@carrier.example \t", "sip:+12025551000@carrier.example"),
        ("tel:+12025551000\r\n ", "tel:+12025551000"), ("tel:+12025551000 ", "tel:+12025551000"),
    ])
    func `a folded URI brings no line end along`(received: String, sent: String) throws {
        let setting = SignedCallSetting(isTrusted: true)
        let invite = SignedInvite(lines: "P-Asserted-Identity: <\(received)>\n")
        let redirected = Redirected(invite.text, by: try setting.gateway(), at: setting.seconds)
        #expect(redirected["P-Asserted-Identity"] == [#""Acme \"Bank\"" <\#(sent)>"#])
    }

    @Test func `a call that its trunk would reject for the signature goes on without a name`() throws {
        var setting = SignedCallSetting(isTrusted: true)
        setting.rules = { $0.onFailed = .reject }
        let identity = try TrustLab.shared.signed(TrustLab.claims(dest: "12025559999"))
        let redirected = Redirected(
            SignedInvite(identity: [identity]).text, by: try setting.gateway(), at: setting.seconds)
        #expect(redirected.status == "SIP/2.0 404 Not Found" && redirected.event == .unmatched(.failedVerification))
    }

    // MARK: A published example

    /// The response in "CNAM Policies" of ClearIP's manual (docs.clearip.com), with Herald's mark, name and reason.
    @Test func `a redirection has the fields of ClearIP`() throws {
        let gateway = try gateway { options in
            (options.region, options.brandNumbers) = ("US", [E164Number("+14045266060")].compactMap { $0 })
        }
        let redirected = Redirected(
            """
            INVITE sip:14047884802@1.2.3.4:5060 SIP/2.0
            Via: SIP/2.0/TLS sip.clearip.com:5061;branch=z9hG4bKc936.6fc7313aee12792c28d3ebea5f6ac703.0;i=ce97aef5
            Via: SIP/2.0/TCP 192.168.1.89:3000;received=18.208.235.205;branch=z9hG4bK-777-1-0
            To: <sip:14047884802@1.2.3.4:5060>
            From: <sip:14045266060@192.168.1.89:3000>;tag=1
            Call-ID: 1-777@192.168.1.89
            CSeq: 1 INVITE
            Content-Length: 0


            """, by: gateway)
        #expect(redirected.status == "SIP/2.0 302 Moved Temporarily")
        #expect(redirected["From"] == ["<sip:14045266060@192.168.1.89:3000>;tag=1"])
        #expect(redirected["P-Asserted-Identity"] == [#""Acme \"Bank\"" <sip:14045266060@192.168.1.89:3000>"#])
        #expect(redirected["Contact"] == ["<sip:14047884802@1.2.3.4:5060;herald-redirect>;q=0.99"])
        #expect(
            redirected["Via"].last == "SIP/2.0/TCP 192.168.1.89:3000;received=18.208.235.205;branch=z9hG4bK-777-1-0")
        #expect(redirected["Reason"].first?.hasPrefix("SIP;cause=302;text=") == true)
    }

    // MARK: Loops

    /// The next request of the sender has the Contact as its Request-URI (RFC 3261 §8.1.3.4), perhaps with another host.
    @Test(arguments: [
        "sip:100@192.0.2.20", "sip:100@192.0.2.20:5062;transport=udp", "sips:100@pbx.example", "sip:pbx.example",
        "sip:+61255502001;npdi;rn=+612555@192.0.2.20;user=phone", "tel:+61255502001",
        "tel:100;phone-context=pbx.example",
    ])
    func `a request that comes back is never redirected again`(uri: String) throws {
        let gateway = try gateway()
        let invite = request("INVITE").replacing("INVITE sip:100@192.0.2.20 ", with: "INVITE \(uri) ")
        let contact = try #require(Redirected(invite, by: gateway)["Contact"].first)
        let next = try #require(contact.wholeMatch(of: /<(.*)>;q=0\.99/)?.1)
        #expect(next == uri + ";herald-redirect")
        for target in [String(next), next.replacing("192.0.2.20", with: "192.0.2.99"), next + ";more=1"] {
            let again = invite.replacing("INVITE \(uri) ", with: "INVITE \(target) ").replacing(
                "story@", with: "other@")
            for (unnamed, status) in [(RedirectDoor.OnwardStatus.notFound, "404"), (.serviceUnavailable, "503")] {
                let back = Redirected(again, by: gateway, unnamed: unnamed)
                #expect(back.event == .returned && back.status.hasPrefix("SIP/2.0 \(status) "), "\(target)")
            }
        }
    }

    /// A quote would hide the mark behind it, and each request would be redirected again.
    @Test(arguments: [
        #"sip:100@192.0.2.20;x=""#, #"sip:100@192.0.2.20;x=";herald-redirect"#, #"sip:100@192.0.2.20;x="\"#,
        #"sip:100;x="@192.0.2.20"#, #"sip:100@192.0.2.20;x=\"#, #"tel:+61255502001;x=""#,
        #"tel:+61255502001;x=";herald-redirect"#,
    ])
    func `a request whose Request-URI has a quote or a backslash is not redirected`(uri: String) throws {
        let invite = request("INVITE").replacing("INVITE sip:100@192.0.2.20 ", with: "INVITE \(uri) ")
        let redirected = Redirected(invite, by: try gateway())
        #expect(redirected.event == .unusable && redirected.status == "SIP/2.0 404 Not Found")
    }
}
