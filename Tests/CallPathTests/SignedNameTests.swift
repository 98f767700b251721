// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing
import Trust
import TrustFixtures

/// The rcd claims of a token.
struct SignedClaims {
    var name: String? = "Acme Signed"
    var reason: String?
    var further = ""

    /// The header field with a `shaken` that has them.
    func field(orig: String = "12025551000", attest: String = "A") throws -> String {
        let card = name.map { #","rcd":{"nam":\#(Self.json($0))\#(further)}"# } ?? ""
        let reason = reason.map { #","crn":\#(Self.json($0))"# } ?? ""
        let claims = TrustLab.claims(orig: orig, card + reason)
        return try TrustLab.shared.signed(claims.replacing(#""attest":"A""#, with: #""attest":"\#(attest)""#))
    }

    private static func json(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": out += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}

/// A sent INVITE by its header fields.
private struct SentInvite {
    let lines: [String]

    init(_ text: String) { lines = text.split(separator: "\r\n").map(String.init) }

    subscript(name: String) -> [String] {
        lines.filter { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    /// The display name of From; nil for none.
    var name: String? {
        self["From"].first.flatMap { line in line.firstIndex(of: "<").map { String(line[..<$0]) } }
            .flatMap { $0.isEmpty ? nil : $0.trimmingPrefix("\"").description.replacing("\" ", with: "") }
    }
}

@Suite("Signed names on the call path, RFC 9795 and RFC 9796")
struct SignedNameTests {
    /// The brand of the directory: its name with a quote, a logo and a reason.
    private static let brand = #"Acme \"Bank\""#
    /// The field that a trusted trunk has the caller's number in.
    private static let asserted = "P-Asserted-Identity: <sip:+12025551000@carrier.example>\n"

    /// A call, with the name of the directory or without a brand, and what leaves.
    private func call(
        _ source: TrustRegime.Names?, _ identity: [String], hasBrand: Bool = true, mode: TrunkSignatures.Mode = .decide,
        lines: String = "", from: String = "\"WIRELESS\" <sip:+12025551000@carrier.example>", isTrusted: Bool = false,
        _ options: @escaping (inout GatewayUnderTest.Options) -> Void = { _ in }
    ) throws -> (sent: SentInvite, update: CallUpdate, texts: CallTexts?, gateway: GatewayUnderTest) {
        var setting = SignedCallSetting(mode: mode, isTrusted: isTrusted)
        setting.rules = { $0.names = source }
        setting.options = {
            $0.brandNumbers = hasBrand ? nil : []
            options(&$0)
        }
        let gateway = try setting.gateway()
        let invite = SignedInvite(identity: identity, from: from, lines: lines)
        let sent = try #require(
            gateway.receive(invite.text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        var found: (CallUpdate, CallTexts?)?
        _ = gateway.ring.read(after: 0, limit: 10) { update, texts in found = found ?? (update, texts) }
        let (update, texts) = try #require(found)
        return (SentInvite(sent), update, texts, gateway)
    }

    // MARK: The source of names

    private enum Signed: CaseIterable { case verified, same, unverified, absent }

    /// Rows: the source, and whether the directory has a brand. Columns: a verified name, the brand's name signed, a name that
    /// is not verified (attestation B), and none: the name that leaves, and the reason.
    @Test(
        arguments: [
            (.directoryFirst, true, ["D", "=", "D", "D"]), (.directoryFirst, false, ["S", "S=", "-", "-"]),
            (.rcdFirst, true, ["S", "=", "D", "D"]), (.rcdFirst, false, ["S", "S=", "-", "-"]),
            (.mustAgree, true, ["x", "=", "x", "x"]), (.mustAgree, false, ["-", "-", "-", "-"]),
            (.rcdOnly, true, ["S", "S=", "x", "x"]), (.rcdOnly, false, ["S", "S=", "-", "-"]),
            (.directoryOnly, true, ["D", "=", "D", "D"]), (.directoryOnly, false, ["-", "-", "-", "-"]),
        ] as [(TrustRegime.Names, Bool, [String])])
    func `the name is chosen by its source`(source: TrustRegime.Names, hasBrand: Bool, expected: [String]) throws {
        for (signed, mark) in zip(Signed.allCases, expected) {
            let claims = SignedClaims(name: signed == .absent ? nil : signed == .same ? #"Acme "Bank""# : "Acme Signed")
            let field = try claims.field(attest: signed == .unverified ? "B" : "A")
            let (sent, update, texts, _) = try call(source, [field], hasBrand: hasBrand)
            let name = texts.map { String(decoding: $0.brandName, as: UTF8.self) }
            switch mark {
            case "D", "=":
                #expect(sent.name == Self.brand, "\(source) \(signed)")
                #expect(update.reason == nil)
                #expect(update.trust?.nameOrigin == (mark == "=" ? .both : .directory))
                #expect(texts.map { String(decoding: $0.brandID, as: UTF8.self) } == "acme")
                #expect(name == #"Acme "Bank""#)
            case "S", "S=":
                #expect(sent.name == (mark == "S" ? "Acme Signed" : Self.brand), "\(source) \(signed)")
                #expect(update.reason == .signedName)
                #expect(update.trust?.nameOrigin == .signature)
                #expect(texts?.brandID.isEmpty == true, "no brand of the directory")
                #expect(name == (mark == "S" ? "Acme Signed" : #"Acme "Bank""#))
            default:
                #expect(sent.name == "WIRELESS", "\(source) \(signed)")
                #expect(update.reason == (mark == "x" ? .nameSource : .noMatch))
                #expect(update.trust?.nameOrigin == NameOrigin.none)
                #expect(sent["Call-Info"].isEmpty)
            }
            #expect(update.evidence?.lookup == (hasBrand ? .brandFound : .noBrand))
        }
    }

    @Test(arguments: TrustRegime.Names.allCases) func `without a key the regime decides`(source: TrustRegime.Names)
        throws
    {
        var setting = SignedCallSetting()
        setting.rules = { $0.policy.regimes[0].names = source }
        let update = try setting.call(SignedInvite(identity: [try SignedClaims().field()])).update
        let expected: PassThroughReason? =
            switch source {
            case .directoryFirst, .directoryOnly: nil
            case .rcdFirst, .rcdOnly: .signedName
            case .mustAgree: .nameSource
            }
        #expect(update?.reason == expected)
    }

    /// Spellings of one name agree, and the directory's is written without a mark (UAX #15).
    @Test(arguments: [("acme \"BANK\"", true), ("Ａｃｍｅ\u{3000}\"Bank\"", true), ("Acme “Bank”", false), ("Acme", false)])
    func `names that must agree are compared as readers do`(name: String, agree: Bool) throws {
        let (sent, update, _, _) = try call(.mustAgree, [try SignedClaims(name: name).field()])
        #expect(update.reason == (agree ? nil : .nameSource))
        #expect(sent.name == (agree ? Self.brand : "WIRELESS"))
        #expect(!sent.lines.contains { $0.contains("verified") })
    }

    /// The cut of a longer name may be the name of another company.
    @Test(arguments: [TrustRegime.Names.directoryFirst, .rcdFirst, .mustAgree, .rcdOnly])
    func `a longer signed name does not agree by its cut`(source: TrustRegime.Names) throws {
        // The brand of the directory has 11 bytes.
        let claims = SignedClaims(name: #"Acme "Bank" of Nowhere"#, reason: "Delivery")
        let (sent, update, _, _) = try call(source, [try claims.field()]) { $0.maxNameBytes = 11 }
        let isSigned = source == .rcdFirst || source == .rcdOnly
        let isNone = source == .mustAgree
        let origin: NameOrigin = isSigned ? .signature : isNone ? .none : .directory
        let reason: PassThroughReason? = isSigned ? .signedName : isNone ? .nameSource : nil
        #expect(update.trust?.nameOrigin == origin && update.reason == reason)
        // Neither side's logo and reason go with the other name.
        #expect(sent["Call-Info"].contains { $0.contains("Delivery") } == isSigned)
        #expect(sent["Call-Info"].contains { $0.contains("logos.example") } == (source == .directoryFirst))
        #expect(!sent.lines.contains { $0.contains("verified") })
    }

    @Test(arguments: [TrustRegime.Names.mustAgree, .rcdOnly])
    func `an unsigned call has no name where a signed one is needed`(source: TrustRegime.Names) throws {
        let (sent, update, _, decided) = try call(source, [], lines: Self.asserted, isTrusted: true)
        #expect(sent.name == "WIRELESS")
        #expect(update.reason == .nameSource)
        #expect(update.trust?.causes == [.unsigned])
        let shadow = try call(source, [], mode: .shadow, lines: Self.asserted, isTrusted: true)
        #expect(shadow.update.reason == nil && shadow.sent.name == Self.brand)
        #expect(shadow.update.trust?.causes == [.unsigned] && shadow.update.trust?.counts == false)
        for (evidence, gateway) in [(update.trust, decided), (shadow.update.trust, shadow.gateway)] {
            #expect(evidence?.changesCall == true)
            #expect(gateway.shared.trust.counters.changedNames == 1)
        }
    }

    // MARK: Shadow

    @Test(arguments: TrustRegime.Names.allCases)
    func `in shadow the bytes stay, and a changed name is counted`(source: TrustRegime.Names) throws {
        let fields = [try SignedClaims(reason: "Rendezvous for Little Nellie").field()]
        let shadow = try call(source, fields, mode: .shadow, lines: Self.asserted, isTrusted: true)
        let plain = try call(source, fields, lines: Self.asserted, isTrusted: true) { $0.signatures = nil }
        #expect(shadow.sent.lines == plain.sent.lines)
        #expect(shadow.update.reason == nil)
        #expect(shadow.update.trust?.nameOrigin == .directory)
        let isChanged = source == .rcdFirst || source == .rcdOnly || source == .mustAgree
        #expect(shadow.gateway.shared.trust.counters.changedNames == (isChanged ? 1 : 0))
        let decide = try call(source, fields, lines: Self.asserted, isTrusted: true)
        #expect(decide.gateway.shared.trust.counters.changedNames == (isChanged ? 1 : 0))
    }

    // MARK: Gates that come first

    /// Privacy, emergency, a failed check, a closed gate, a brand switched off, another number: no signed name passes.
    @Test(
        arguments: [
            ("Privacy: id\n", "Acme Signed", true, .privacy),
            ("Priority: emergency\n", "Acme Signed", true, .emergency),
            ("Replaces: a;to-tag=b;from-tag=c\n", "Acme Signed", true, .midDialog),
        ] as [(String, String, Bool, PassThroughReason)])
    func `a signed name passes every gate of the decision`(
        lines: String, name: String, isTrusted: Bool, reason: PassThroughReason
    ) throws {
        for source in TrustRegime.Names.allCases {
            for hasBrand in [false, true] {
                let (sent, update, texts, _) = try call(
                    source, [try SignedClaims(name: name, reason: name).field()], hasBrand: hasBrand, lines: lines,
                    isTrusted: isTrusted)
                #expect(update.reason == reason)
                #expect(!sent.lines.contains { $0.contains("Acme") })
                #expect(texts?.brandName.isEmpty ?? true)
                #expect(update.trust?.nameOrigin == NameOrigin.none)
            }
        }
    }

    /// A closed gate of the directory stops signed names too.
    @Test(arguments: [true, false]) func `a closed gate closes for signed names`(hasBrand: Bool) throws {
        let (sent, update, _, _) = try call(.rcdFirst, [try SignedClaims().field()], hasBrand: hasBrand) {
            $0.gates.capReached = true
        }
        #expect(sent.name == "WIRELESS")
        #expect(update.reason == (hasBrand ? .gatedCapReached : .noMatch))
    }

    @Test func `a name that was signed for another number is nobody's`() throws {
        let lines = "P-Asserted-Identity: <sip:+12025559999@carrier.example>\n"
        let (sent, update, _, _) = try call(
            .rcdFirst, [try SignedClaims().field(orig: "12025559999")], hasBrand: false, lines: lines, isTrusted: true
        ) { $0.identityOrder = [.from] }
        #expect(update.trust?.result == .passedA)
        #expect(sent.name == "WIRELESS")
        #expect(update.reason == .noMatch)
    }

    @Test func `a failed signature names nobody`() throws {
        let field = try TrustLab.shared.signed(TrustLab.claims(dest: "12025559999", #","rcd":{"nam":"Acme Signed"}"#))
        for source in TrustRegime.Names.allCases {
            let (sent, update, _, _) = try call(source, [field], hasBrand: false)
            #expect(sent.name == "WIRELESS")
            #expect(update.reason == .failedVerification)
        }
    }

    /// The directory has no such brand, so it has no event, no return and no bill of it.
    @Test(arguments: [(false, TrustRegime.Names.directoryFirst), (true, .rcdFirst), (true, .rcdOnly)])
    func `a name by signature alone is no brand of the directory`(hasBrand: Bool, source: TrustRegime.Names) throws {
        let (_, update, texts, gateway) = try call(source, [try SignedClaims().field()], hasBrand: hasBrand)
        var record = CallRecord(update, texts: texts, trunk: "carrier")
        record.ringingAt = update.wallMicroseconds + 1
        #expect(record.brandName == "Acme Signed" && record.brandID == nil && record.carrierName == "WIRELESS")
        #expect(record.isUnknownCaller == !hasBrand, "a lookup asks for an unknown caller")
        #expect(!record.isBranded && record.decision == "signed_name" && record.displayEvidence == nil)
        #expect(gateway.counters.count(.callsBranded) == 0 && gateway.counters.count(.signedName) == 1)
    }

    // MARK: Later requests

    /// The dialog began with a name by signature. The directory's name is that of another.
    @Test func `a later request gets no other name than the carrier's`() throws {
        let lines = "P-Asserted-Identity: <sip:+12025551000@carrier.example>\n"
        let (sent, _, _, gateway) = try call(.rcdFirst, [try SignedClaims().field()], lines: lines, isTrusted: true)
        let route = try #require(sent["Record-Route"].first)
        let update = """
            UPDATE sip:phone@192.0.2.20 SIP/2.0
            Via: SIP/2.0/UDP 203.0.113.5:5060;branch=z9hG4bKupdate;rport
            Max-Forwards: 70
            Route: \(route)
            From: "WIRELESS" <sip:+12025551000@carrier.example>;tag=a
            To: <sip:+12025551001@192.0.2.10>;tag=b
            Call-ID: signed@carrier.example
            CSeq: 2 UPDATE
            P-Asserted-Identity: "WIRELESS" <sip:+12025551000@carrier.example>
            Content-Length: 0


            """
        let later = try #require(gateway.receive(update, from: GatewayUnderTest.trunk).requests("UPDATE").first)
        #expect(SentInvite(String(decoding: later, as: UTF8.self)).name == "WIRELESS")
    }

    // MARK: The carrier's name

    @Test(arguments: [(CarrierNamePolicy.keep, "WIRELESS"), (.fill, "WIRELESS"), (.replace, "Acme Signed")])
    func `a signed name goes where a brand's name goes`(policy: CarrierNamePolicy, name: String) throws {
        let field = try SignedClaims(reason: "Delivery").field()
        let (sent, update, texts, _) = try call(.rcdFirst, [field], hasBrand: false) { $0.carrierName = policy }
        #expect(sent.name == name)
        let value = "<data:>;purpose=jcard;call-reason=\"Delivery\";verified=\"true\""
        #expect(sent["Call-Info"] == (policy == .replace ? [value] : []))
        #expect(update.reason == (policy == .replace ? .signedName : .policy))
        #expect(update.trust?.nameOrigin == (policy == .replace ? .signature : NameOrigin.none))
        #expect(texts.map { String(decoding: $0.carrierName, as: UTF8.self) } == (policy == .replace ? "WIRELESS" : ""))
    }

    /// From without a name, with the caller's number for one, and with a name that anybody can have written.
    @Test(arguments: [("", true), ("\"+12025551000\" ", true), ("\"Your Bank\" ", false)])
    func `a picture goes where the name is filled in`(from: String, isFilled: Bool) throws {
        let picture =
            #""icn":"https://example.com/photos/q-256x256.png"},"rcdi":{"/icn":"#
            + #""sha256-RojgWwU6xUtI4q82+kHPyHm1JKbm7+663bMvzymhkl4"}"#
        let field = try TrustLab.shared.signed(TrustLab.claims(#","rcd":{"nam":"Acme Signed",\#(picture)"#))
        let caller = "\(from)<sip:+12025551000@carrier.example>"
        let (sent, _, _, _) = try call(.rcdFirst, [field], hasBrand: false, from: caller) {
            let files = ["https://logos.example/q.png": "4688e05b053ac54b48e2af36fa41cfc8-256x256.png"]
            $0.carrierName = .fill
            $0.hostedLogos = HostedLogos(publicURL: "http://gw.example", missing: .original, files: files)
        }
        #expect(sent.name == (isFilled ? "Acme Signed" : "Your Bank"))
        #expect(sent["Call-Info"].contains { $0.contains("q-256x256.png>;purpose=icon;verified") } == isFilled)
    }

    @Test func `From and P-Asserted-Identity get the name`() throws {
        let lines = "P-Asserted-Identity: \"OLD\" <sip:+12025551000@carrier.example>\n"
        let (sent, _, _, _) = try call(
            .rcdFirst, [try SignedClaims().field()], hasBrand: false, lines: lines, isTrusted: true)
        #expect(sent.name == "Acme Signed")
        #expect(sent["P-Asserted-Identity"] == ["\"Acme Signed\" <sip:+12025551000@carrier.example>"])
        #expect(sent["Call-Info"] == ["<data:>;purpose=jcard;verified=\"true\""])
    }

    @Test func `a field that keeps another name takes the mark away`() throws {
        let lines = "P-Asserted-Identity: O\"LD\" <sip:+12025551000@carrier.example>\n"
        let (sent, _, _, _) = try call(
            .rcdFirst, [try SignedClaims().field()], hasBrand: false, lines: lines, isTrusted: true)
        #expect(sent.name == "Acme Signed")
        #expect(sent["Call-Info"].isEmpty)
    }

    @Test func `the carrier's own mark goes`() throws {
        let lines = "Call-Info: <data:>;purpose=jcard;verified=\"true\";call-reason=\"Prize\"\n"
        for isTrusted in [true, false] {
            let (sent, _, _, _) = try call(
                .rcdFirst, [try SignedClaims().field()], hasBrand: false, lines: lines, isTrusted: isTrusted)
            #expect(sent["Call-Info"] == ["<data:>;purpose=jcard;verified=\"true\""])
        }
    }

    // MARK: Values of both

    /// The brand has a logo and a reason. They go with its name alone.
    @Test func `nobody gets the logo of another`() throws {
        let claims = SignedClaims(reason: "Delivery")
        let brand = "<https://logos.example/acme-256x256.png>;purpose=icon;call-reason=\"Your appointment\""
        let first = try call(.directoryFirst, [try claims.field()])
        #expect(first.sent["Call-Info"] == [brand])
        let signed = try call(.rcdFirst, [try claims.field()])
        #expect(signed.sent["Call-Info"] == ["<data:>;purpose=jcard;call-reason=\"Delivery\";verified=\"true\""])
        // A reason without a name fills what the directory lacks.
        let reason = try call(.directoryFirst, [try SignedClaims(name: nil, reason: "Delivery").field()]) {
            $0.hasReason = false
        }
        #expect(
            reason.sent["Call-Info"] == [
                "<https://logos.example/acme-256x256.png>;purpose=icon;call-reason=\"Delivery\""
            ])
        let prefers = try call(.rcdFirst, [try SignedClaims(name: nil, reason: "Delivery").field()])
        #expect(prefers.sent["Call-Info"] == reason.sent["Call-Info"])
        #expect(prefers.update.reason == nil)
    }

    @Test(arguments: [
        (TrustRegime.Names.directoryFirst, true), (.rcdOnly, true), (.mustAgree, false), (.directoryOnly, false),
    ])
    func `a reason may be signed without a name`(source: TrustRegime.Names, isShown: Bool) throws {
        let (sent, update, _, _) = try call(
            source, [try SignedClaims(name: nil, reason: "Delivery").field()], hasBrand: false,
            lines: Self.asserted, isTrusted: true)
        #expect(sent.name == "WIRELESS")
        #expect(sent["Call-Info"] == (isShown ? ["<data:>;purpose=jcard;call-reason=\"Delivery\""] : []))
        #expect(update.reason == (isShown ? .signedName : .noMatch))
    }

    /// The trust in the trunk, the brand, the place of its name, and whether the signed reason is written.
    @Test(
        arguments: [
            (false, false, .replace, false), (false, true, .replace, true), (false, true, .keep, false),
            (false, true, .fill, false), (true, false, .replace, true), (true, false, .keep, true),
            (true, true, .keep, true),
        ] as [(Bool, Bool, CarrierNamePolicy, Bool)])
    func `nothing signed goes beside a name that anybody can have written`(
        isTrusted: Bool, hasBrand: Bool, policy: CarrierNamePolicy, isShown: Bool
    ) throws {
        for source in [TrustRegime.Names.directoryFirst, .rcdFirst] {
            let (sent, update, _, gateway) = try call(
                source, [try SignedClaims(name: nil, reason: "Delivery").field()], hasBrand: hasBrand,
                lines: isTrusted ? Self.asserted : "", isTrusted: isTrusted
            ) { ($0.carrierName, $0.hasReason) = (policy, false) }
            let logo = "<https://logos.example/acme-256x256.png>;purpose=icon"
            let head = hasBrand ? logo : "<data:>;purpose=jcard"
            let value = head + (isShown ? ";call-reason=\"Delivery\"" : "")
            #expect(sent["Call-Info"] == (hasBrand || isShown ? [value] : []))
            #expect(sent.name == (hasBrand && policy == .replace ? Self.brand : "WIRELESS"))
            let reason: PassThroughReason? = hasBrand ? nil : isShown ? .signedName : .noMatch
            #expect(update.reason == reason)
            #expect(gateway.shared.trust.counters.changedNames == (isShown ? 1 : 0))
        }
    }

    @Test func `without Call-Info there is a name and no mark`() throws {
        let (sent, _, _, _) = try call(
            .rcdFirst, [try SignedClaims(reason: "Delivery").field()], hasBrand: false
        ) { $0.writesCallInfo = false }
        #expect(sent.name == "Acme Signed")
        #expect(sent["Call-Info"].isEmpty)
    }

    // MARK: The tokens of RFC 9796

    /// The picture of §8, its bytes among the stored logos or not.
    @Test(
        arguments: [
            (
                "4688e05b053ac54b48e2af36fa41cfc8",
                "<https://example.com/photos/q-256x256.png>;purpose=icon;call-reason=\"Rendezvous for Little Nellie\";"
                    + "verified=\"true\";integrity=\"sha256-RojgWwU6xUtI4q82+kHPyHm1JKbm7+663bMvzymhkl4\""
            ),
            (
                "00000000000000000000000000000000",
                "<data:>;purpose=jcard;call-reason=\"Rendezvous for Little Nellie\";verified=\"true\""
            ),
        ]) func `the example of section 8`(stored: String, expected: String) throws
    {
        let claims = SignedClaims(
            name: "Q Branch Spy Gadgets", reason: "Rendezvous for Little Nellie",
            further: #","icn":"https://example.com/photos/q-256x256.png""#)
        let digest = #","rcdi":{"/icn":"sha256-RojgWwU6xUtI4q82+kHPyHm1JKbm7+663bMvzymhkl4"}"#
        let payload = TrustLab.claims(
            #","crn":"Rendezvous for Little Nellie","rcd":{"nam":"Q Branch Spy Gadgets"\#(claims.further)}\#(digest)"#)
        let isUnknown = expected.hasPrefix("<data:>")
        for mode in [TrunkSignatures.Mode.decide, .shadow] {
            let (sent, update, _, gateway) = try call(
                .rcdFirst, [try TrustLab.shared.signed(payload)], hasBrand: false, mode: mode, lines: Self.asserted,
                isTrusted: true
            ) {
                $0.hostedLogos = HostedLogos(
                    publicURL: "http://gw.example", missing: .original,
                    files: ["https://logos.example/q.png": "\(stored)-256x256.png"])
            }
            #expect(sent.name == (mode == .decide ? "Q Branch Spy Gadgets" : "WIRELESS"))
            #expect(sent["Call-Info"] == (mode == .decide ? [expected] : []))
            #expect(update.trust?.marks.contains(.rcdIcon) == isUnknown)
            #expect(gateway.shared.trust.counters.count(.rcdIcon) == (isUnknown ? 1 : 0))
        }
    }

    /// The token of §7 has a picture without a digest: RFC 9795 §6.1.1 then bears out none of its claims.
    @Test func `the example of section 7`() throws {
        let claims = SignedClaims(name: "James Bond", further: #","icn":"https://example.com/jbond.png""#)
        let (sent, update, _, _) = try call(.rcdFirst, [try claims.field()], hasBrand: false)
        #expect(sent.name == "WIRELESS")
        #expect(update.trust?.marks.contains(.rcdMalformed) == true)
    }

    // MARK: The tokens of RFC 9795, and the cases of the laboratory

    /// The digest of the name in RFC 9795 §6.1.1, and that of another name.
    @Test(arguments: [("Q Branch Spy Gadgets", true), ("Q Branch Spy Gadget", false)])
    func `the digest of section 6 bears out its name`(name: String, isVerified: Bool) throws {
        let payload = TrustLab.claims(
            #","rcd":{"nam":"\#(name)"},"rcdi":{"/nam":"sha256-sM275lTgzCte+LHOKHtU4SxG8shlOo6OS4ot8IJQImY"}"#)
        let (sent, update, _, _) = try call(.directoryFirst, [try TrustLab.shared.signed(payload)], hasBrand: false)
        #expect(sent.name == (isVerified ? name : "WIRELESS"))
        #expect(sent["Call-Info"] == (isVerified ? ["<data:>;purpose=jcard;verified=\"true\""] : []))
        #expect(update.reason == (isVerified ? .signedName : .noMatch))
    }

    private static let named = TrustLab.shared.cases.filter { $0.sequence == nil && $0.expect.us.name != nil }

    @Test(arguments: named) func `a name is written if its case bears it out`(_ item: TrustLab.Case) throws {
        var setting = SignedCallSetting(regime: item.regime, known: item.known, crl: item.crl, seconds: item.now)
        setting.rules = { $0.names = .rcdFirst }
        setting.options = { $0.brandNumbers = [] }
        let (sent, update) = try setting.call(SignedInvite(item))
        let isVerified = item.expect.us.name == "verified"
        #expect(update?.trust?.nameOrigin == (isVerified ? .signature : NameOrigin.none), "\(item)")
        // A good signature without attestation vouches for nobody.
        let isVouched = update?.trust.map { $0.hasPassed && $0.result.verification != .none } ?? false
        #expect(update?.reason == (isVerified ? .signedName : isVouched ? .noMatch : .untrusted))
        let invite = SentInvite(try #require(sent))
        #expect((invite.name != nil) == isVerified, "\(item)")
        #expect(invite["Call-Info"].contains { $0.contains("verified") } == isVerified, "\(item)")
    }

    // MARK: Hostile names

    /// What a name may do to a header field, a phone, a PBX and a page.
    @Test(arguments: [
        ("A\r\nVia: SIP/2.0/UDP evil", "A Via: SIP/2.0/UDP evil"), ("A\u{202E}B", "AB"), ("A\u{0}B", "AB"),
        (#"A" <sip:evil@x>"#, #"A\" <sip:evil@x>"#), (#"A\"#, #"A\\"#),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("${A}", "{A}"), ("%41", "percent 41"), (String(repeating: "A", count: 300), String(repeating: "A", count: 80)),
        (String(repeating: "é", count: 150), String(repeating: "é", count: 40)),
    ]) func `a hostile name is cleaned as a directory's is`(name: String, shown: String) throws {
        let (sent, update, _, _) = try call(.rcdFirst, [try SignedClaims(name: name).field()], hasBrand: false)
        let from = try #require(sent["From"].first)
        #expect(from.hasPrefix("\"\(shown)\" <sip:+12025551000@carrier.example>;tag=a"), "\(from)")
        #expect(sent["Via"].count == 2, "no line is new")
        #expect(update.reason == .signedName)
        let isExact = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && $0 != "\u{202E}" }
        let isSame = isExact && name.utf8.count <= 80 && !name.contains("%") && !name.contains("$")
        #expect(sent["Call-Info"] == (isSame ? ["<data:>;purpose=jcard;verified=\"true\""] : []))
    }

    // MARK: The report to the PBX

    private static let other = "P-Asserted-Identity: <sip:+12025559999@carrier.example>\n"

    /// The source, the token, the name in another field, and the state of the name that the call shows.
    @Test(
        arguments: [
            (.rcdFirst, SignedClaims(), "", ";name=verified"),
            // The directory's name: another one, the same one, and the same one in another spelling.
            (.directoryFirst, SignedClaims(), "", ";name=unverified"),
            (.directoryFirst, SignedClaims(name: #"Acme "Bank""#), "", ";name=verified"),
            (.directoryFirst, SignedClaims(name: #"ACME "BANK""#), "", ";name=unverified"),
            // A name that is cleaned, one that P-Asserted-Identity does not get, one that is not verified, and none.
            (.rcdFirst, SignedClaims(name: "Acme\u{202E}"), "", ";name=unverified"),
            (
                .rcdFirst, SignedClaims(), "P-Asserted-Identity: O\"LD\" <sip:+12025551000@c.example>\n",
                ";name=unverified"
            ),
            (.rcdFirst, SignedClaims(further: #","icn":"https://example.com/q.png""#), "", ""),
            (.mustAgree, SignedClaims(), "", ";name=unverified"), (.rcdFirst, SignedClaims(name: nil), "", ""),
        ] as [(TrustRegime.Names, SignedClaims, String, String)])
    func `the PBX gets the state of the name that the call shows`(
        source: TrustRegime.Names, claims: SignedClaims, lines: String, state: String
    ) throws {
        let (sent, _, _, _) = try call(source, [try claims.field()], lines: lines, isTrusted: !lines.isEmpty) {
            $0.takesVerdict = true
        }
        #expect(sent["X-Herald-Trust"] == ["passed;attestation=A;signer=123A\(state)"])
    }

    @Test func `a name that stays, a low attestation and another number make no name verified`() throws {
        let kept = try call(.rcdFirst, [try SignedClaims().field()]) {
            ($0.takesVerdict, $0.carrierName) = (true, .keep)
        }
        #expect(kept.sent["X-Herald-Trust"] == ["passed;attestation=A;signer=123A;name=unverified"])
        let low = try call(.rcdFirst, [try SignedClaims().field(attest: "B")]) { $0.takesVerdict = true }
        #expect(low.sent["X-Herald-Trust"] == ["passed;attestation=B;signer=123A;name=unverified"])
        let other = try call(
            .rcdFirst, [try SignedClaims().field(orig: "12025559999")], lines: Self.other, isTrusted: true
        ) { ($0.takesVerdict, $0.identityOrder) = (true, [.from]) }
        #expect(other.sent["X-Herald-Trust"] == ["passed;attestation=A;signer=123A;name=none"])
    }

    // MARK: Space

    @Test func `a name that does not fit is left out`() throws {
        let (sent, update, _, _) = try call(.rcdFirst, [try SignedClaims().field()], hasBrand: false) {
            $0.largestDatagram = 600
        }
        #expect(sent.name == "WIRELESS")
        #expect(update.reason == .trimmed)
        #expect(update.trust?.nameOrigin == NameOrigin.none)
    }

    // MARK: Calls without a signed name

    @Test func `a signed call without a name leaves as before`() throws {
        let field = try TrustLab.shared.signed(TrustLab.claims())
        let (sent, update, _, gateway) = try call(.directoryFirst, [field])
        #expect(sent["Call-Info"].first?.contains("verified") == false)
        #expect(update.reason == nil)
        #expect(update.trust?.nameOrigin == .directory)
        #expect(gateway.shared.trust.counters.changedNames == 0)
    }

    // MARK: The compact form

    /// A compact token of another name would fail behind this gateway (RFC 8224 §4.1). Others pass in order.
    @Test(arguments: [
        ("..c2ln;info=<https://c.example/a>;ppt=rcd", true), ("..c2ln;info=<https://c.example/a>;ppt=\"rcd\"", true),
        ("..c2ln;info=<https://c.example/a>;ppt=shaken", false), ("..c2ln;info=<https://c.example/a>", false),
    ]) func `a compact token of the old name goes`(compact: String, isDropped: Bool) throws {
        let field = try SignedClaims().field()
        let (sent, update, _, _) = try call(.rcdFirst, [compact, field], hasBrand: false)
        #expect(update.trust?.causes == [.compactForm, .passed])
        #expect(sent["Identity"] == (isDropped ? [field] : [compact, field]))
        let kept = try call(.rcdFirst, [compact, field], hasBrand: false) { $0.carrierName = .keep }
        #expect(kept.sent["Identity"] == [compact, field], "From is as it was")
        let shadow = try call(.rcdFirst, [compact, field], hasBrand: false, mode: .shadow)
        #expect(shadow.sent["Identity"] == [compact, field])
        let list = try call(.rcdFirst, ["\(compact),\(field)"], hasBrand: false)
        #expect(list.sent["Identity"] == (isDropped ? [field] : ["\(compact),\(field)"]))
    }
}
