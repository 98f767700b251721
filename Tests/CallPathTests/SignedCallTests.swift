// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing
import Trust
import TrustFixtures

/// The INVITE of a signed call on the trunk.
struct SignedInvite {
    var identity: [String] = []
    var from = "<sip:+12025551000@carrier.example>"
    var uri = "sip:+12025551001@192.0.2.10"
    var to = "<sip:+12025551001@192.0.2.10>"
    /// Further header fields, each with its line end.
    var lines = ""
    var callID = "signed@carrier.example"

    var text: String {
        let fields = identity.map { "Identity: \($0)\n" }.joined()
        return """
            INVITE \(uri) SIP/2.0
            Via: SIP/2.0/UDP 203.0.113.5:5060;branch=z9hG4bK\(callID.prefix { $0 != "@" });rport
            Max-Forwards: 70
            From: \(from);tag=a
            To: \(to)
            Call-ID: \(callID)
            CSeq: 1 INVITE
            \(fields)\(lines)Content-Length: 0


            """
    }
}

extension SignedInvite {
    /// The call of a case of the laboratory.
    init(_ item: TrustLab.Case) {
        func uri(_ number: String) -> String {
            "sip:\(number.allSatisfy(\.isNumber) ? "+" : "")\(number)@192.0.2.10"
        }
        self.init(
            identity: item.identity, from: "<\(uri(item.caller))>", uri: uri(item.called), to: "<\(uri(item.to))>",
            lines: item.date.map { "Date: \($0)\n" } ?? "", callID: "\(item.id)@carrier.example")
    }
}

/// A gateway whose trunk verifies calls against the signers of the laboratory.
struct SignedCallSetting {
    var mode = TrunkSignatures.Mode.decide
    var regime = "us"
    var isTrusted = false
    var known: [String]?
    var crl: String?
    var seconds: Int64 = 1_471_375_428
    /// Further settings of the trunk.
    var rules: (inout TrunkSignatures) -> Void = { _ in }
    var options: (inout GatewayUnderTest.Options) -> Void = { _ in }

    func gateway() throws -> GatewayUnderTest {
        let lab = TrustLab.shared
        var options = GatewayUnderTest.Options()
        options.region = "US"
        options.isTrusted = isTrusted
        options.seconds = seconds
        options.signers = try lab.snapshot(known, at: seconds, crl: crl.flatMap { lab.crls[$0] })
        var signatures = TrunkSignatures(policy: TrustLab.policy(regime))
        signatures.mode = mode
        rules(&signatures)
        options.signatures = signatures
        self.options(&options)
        let numbers = try options.brandNumbers ?? [#require(E164Number("+12025551000"))]
        return try GatewayUnderTest(numbers: numbers, options: options)
    }

    /// What the gateway sends to the PBX, and what it reports of the call.
    func call(_ invite: SignedInvite) throws -> (sent: String?, update: CallUpdate?) {
        let gateway = try gateway()
        let sent = gateway.receive(invite.text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first
        return (sent, gateway.updates().first)
    }
}

@Suite("Signed calls: RFC 8224 §6.2 on the call path")
struct SignedCallTests {
    private static let single = TrustLab.shared.cases.filter { $0.sequence == nil }

    // MARK: Cases of the laboratory

    @Test(arguments: single) func `a call has the verdict of its case`(_ item: TrustLab.Case) throws {
        let regimes = [(item.regime, item.expect.us), ("fr", item.expect.fr), ("private", item.expect.in_private)]
        for case (let regime, let expected?) in regimes {
            var setting = SignedCallSetting(regime: regime, known: item.known, crl: item.crl, seconds: item.now)
            setting.rules = { $0.policy.fetchRules = item.fetch == "on" ? [AddressRules()] : [] }
            let (sent, update) = try setting.call(SignedInvite(item))
            #expect(sent != nil, "the call goes on")
            guard !item.identity.isEmpty || regime == "fr" else {
                #expect(update?.trust == nil, "an unsigned call costs nothing")
                continue
            }
            let trust = try #require(update?.trust, "\(item) under \(regime)")
            if let number = expected.number { #expect(Self.name(trust.result) == number, "\(item) under \(regime)") }
            if let causes = expected.causes {
                #expect(trust.causes.map(\.name) == Array(causes.prefix(8)), "\(item) under \(regime)")
                #expect(trust.code == expected.code ?? 0, "\(item) under \(regime)")
            }
            #expect(trust.marks.map(\.name).sorted() == (expected.marks ?? []).sorted(), "\(item) under \(regime)")
            #expect(trust.counts)
        }
    }

    @Test(arguments: single) func `in shadow the same bytes leave as without verification`(_ item: TrustLab.Case) throws
    {
        for isTrusted in [false, true] {
            var shadow = SignedCallSetting(
                mode: .shadow, regime: item.regime, isTrusted: isTrusted, known: item.known, seconds: item.now)
            let (watched, update) = try shadow.call(SignedInvite(item))
            shadow.options = { $0.signatures = nil }
            let (plain, other) = try shadow.call(SignedInvite(item))
            #expect(watched == plain)
            #expect(update?.reason == other?.reason)
            #expect(update?.evidence == other?.evidence)
            #expect(other?.trust == nil)
            if let trust = update?.trust { #expect(!trust.counts) }
        }
    }

    @Test(arguments: single) func `signed header fields pass untouched and in order`(_ item: TrustLab.Case) throws {
        let sent = try #require(
            try SignedCallSetting(known: item.known, seconds: item.now).call(SignedInvite(item)).sent)
        let fields = sent.split(separator: "\r\n").filter { $0.hasPrefix("Identity: ") }.map { $0.dropFirst(10) }
        #expect(fields == item.identity.map { $0[...] })
    }

    @Test func `eight signers with another time make the own clock suspect`() throws {
        let cases = TrustLab.shared.cases.filter { $0.sequence == "clock" }
        let first = try #require(cases.first)
        let gateway = try SignedCallSetting(seconds: first.now).gateway()
        var now = first.now
        for item in cases {
            _ = gateway.pass(.seconds(item.now - now))
            now = item.now
            _ = gateway.receive(SignedInvite(item).text, from: GatewayUnderTest.trunk)
        }
        let verdicts = gateway.updates().compactMap(\.trust)
        #expect(verdicts.map { $0.causes.map(\.name) } == cases.map { $0.expect.us.causes })
        #expect(gateway.shared.trust.counters.clockOffset == -90)
    }

    private static func name(_ result: TrustEvidence.Result) -> String {
        switch result {
        case .none: "none"
        case .passedA: "passed(A)"
        case .passedB: "passed(B)"
        case .passedC: "passed(C)"
        case .passed: "passed(-)"
        case .failed: "failed"
        }
    }

    // MARK: Decision

    /// The levels of attestation, the policy of the trunk, and what becomes of the call on an untrusted trunk.
    @Test(
        arguments: [
            ("A", BrandingPolicy.standard, nil), ("A", .strict, nil), ("B", .standard, nil), ("B", .strict, .policy),
            ("C", .standard, .policy), ("C", .permissive, nil),
        ] as [(String, BrandingPolicy, PassThroughReason?)])
    func `an untrusted trunk's call is branded by its signature`(
        level: String, policy: BrandingPolicy, reason: PassThroughReason?
    ) throws {
        let claims = TrustLab.claims().replacing(#""attest":"A""#, with: #""attest":"\#(level)""#)
        let invite = SignedInvite(identity: [try TrustLab.shared.signed(claims)])
        var setting = SignedCallSetting()
        setting.options = { $0.policy = policy }
        let (sent, update) = try setting.call(invite)
        #expect(update?.reason == reason)
        #expect(sent?.contains("Acme") == (reason == nil))
        #expect(update?.evidence?.source == .ownSignature)
        setting.mode = .shadow
        #expect(try setting.call(invite).update?.reason == .untrusted)
    }

    @Test func `a token for another call proves nothing`() throws {
        let other = try TrustLab.shared.signed(TrustLab.claims(dest: "12025559999"))
        let (_, update) = try SignedCallSetting().call(SignedInvite(identity: [other]))
        #expect(update?.reason == .failedVerification)
        #expect(update?.trust?.causes == [.calledMismatch])
    }

    /// Herald's verdict, the trunk's verstat, the precedence, and what the decision takes.
    @Test(
        arguments: [
            ("passed", "Passed-A", .ownFirst, .passedA, .ownSignature),
            ("passed", "Failed", .ownFirst, .passedA, .ownSignature),
            ("failed", "Passed-A", .ownFirst, .failed, .ownSignature),
            ("none", "Passed-B", .ownFirst, .passedB, .assertedIdentity),
            ("passed", "Failed", .trunkFirst, .failed, .assertedIdentity),
            ("failed", nil, .trunkFirst, .failed, .ownSignature),
            ("passed", "Passed-C", .worst, .passedC, .assertedIdentity),
            ("failed", "Passed-A", .worst, .failed, .ownSignature),
            ("none", "Failed", .worst, .failed, .assertedIdentity),
            ("none", "Passed-A", .ownOnly, .none, .none),
            ("passed", "Failed", .ownOnly, .passedA, .ownSignature),
        ] as [(String, String?, TrunkSignatures.Source, Verification, AttestationSource)])
    func `own verdict and the trunk's word have an order`(
        own: String, trunk: String?, order: TrunkSignatures.Source, taken: Verification, source: AttestationSource
    ) throws {
        let lab = TrustLab.shared
        let token =
            switch own {
            case "passed": try lab.signed(TrustLab.claims())
            case "failed": try lab.signed(TrustLab.claims(orig: "12025559999"))
            default: try lab.signed(TrustLab.claims(), by: "delegate")
            }
        let verstat = trunk.map { ";verstat=TN-Validation-\($0)" } ?? ""
        let invite = SignedInvite(
            identity: [token], lines: "P-Asserted-Identity: <sip:+12025551000\(verstat)@carrier.example>\n")
        var setting = SignedCallSetting(isTrusted: true, known: ["spc"])
        setting.rules = { $0.source = order }
        let update = try setting.call(invite).update
        #expect(update?.evidence?.verification == taken)
        #expect(update?.evidence?.source == source)
    }

    @Test func `a contradiction of trunk and signature is counted`() throws {
        let gateway = try SignedCallSetting(isTrusted: true).gateway()
        let invite = SignedInvite(
            identity: [try TrustLab.shared.signed(TrustLab.claims())],
            lines: "P-Asserted-Identity: <sip:+12025551000;verstat=TN-Validation-Failed@carrier.example>\n")
        _ = gateway.receive(invite.text, from: GatewayUnderTest.trunk)
        let counters = gateway.shared.trust.counters
        #expect(counters.contradictions == 1)
        #expect(counters.changedCalls == 1)
        #expect(counters.count(.passedA) == 1)
        #expect(counters.count(TrustCause.passed) == 1)
        #expect(gateway.updates().first?.trust?.contradictsTrunk == true)
    }

    // MARK: verstat for the PBX

    /// Herald's verdict, the trunk's verstat, and what the phone gets (3GPP TS 24.229 §7.2A.20).
    @Test(
        arguments: [
            (TrustLab.claims(), true, "TN-Validation-Failed", "TN-Validation-Passed"),
            (TrustLab.claims(), true, nil, "TN-Validation-Passed"),
            (TrustLab.claims(), false, nil, "TN-Validation-Passed"),
            // The table of the regime has no red mark for a token of another call.
            (TrustLab.claims(dest: "12025559999"), true, "TN-Validation-Passed", nil),
            (TrustLab.claims(dest: "12025559999"), false, nil, nil),
        ] as [(String, Bool, String?, String?)])
    func `the PBX gets the verdict that counts`(
        claims: String, isTrusted: Bool, trunk: String?, shown: String?
    ) throws {
        let asserted =
            "P-Asserted-Identity: <sip:+12025551000\(trunk.map { ";verstat=\($0)" } ?? "")@carrier.example>\n"
        let invite = SignedInvite(identity: [try TrustLab.shared.signed(claims)], lines: asserted)
        var setting = SignedCallSetting(isTrusted: isTrusted)
        setting.options = { $0.verstat = .full }
        let sent = try #require(try setting.call(invite).sent)
        let line = try #require(
            sent.split(separator: "\r\n").first { $0.hasPrefix(isTrusted ? "P-Asserted-Identity" : "From") })
        let user = "sip:+12025551000\(shown.map { ";verstat=\($0)" } ?? "")@carrier.example"
        #expect(line.contains("<\(user)>"), "\(line)")
        setting.mode = .shadow
        let word = "sip:+12025551000\(trunk.map { ";verstat=\($0)" } ?? "")@carrier.example"
        if isTrusted { #expect(try setting.call(invite).sent?.contains("<\(word)>") == true) }
    }

    @Test func `a certificate that cannot be trusted gives the red mark`() throws {
        let token = try TrustLab.shared.signed(TrustLab.claims(), by: "expired")
        var setting = SignedCallSetting()
        setting.options = { $0.verstat = .levels }
        let sent = try setting.call(SignedInvite(identity: [token])).sent
        #expect(sent?.contains("<sip:+12025551000;verstat=TN-Validation-Failed@carrier.example>") == true)
    }

    // MARK: Header fields for the PBX

    /// The token, the fields of a trusted trunk, and the fields that the PBX gets (ATIS-1000082).
    @Test(arguments: [
        (
            TrustLab.claims(), "",
            ["P-Attestation-Indicator: A", "P-Origination-ID: \(origid)", "X-Herald-Trust: \(good)"]
        ),
        (TrustLab.claims(dest: "12025559999"), "", ["X-Herald-Trust: failed;cause=called_mismatch"]),
        (TrustLab.claims(), "P-Attestation-Indicator: A\n", ["P-Attestation-Indicator: A", "X-Herald-Trust: \(good)"]),
        (
            TrustLab.claims(), "P-Attestation-Indicator: C\n",
            ["P-Attestation-Indicator: A", "P-Origination-ID: \(origid)", "X-Herald-Trust: \(good)"]
        ),
        (
            TrustLab.claims(), "x-herald-trust : forged\n",
            [
                "P-Attestation-Indicator: A", "P-Origination-ID: \(origid)", "X-Herald-Trust: \(good)",
            ]
        ),
    ]) func `a PBX that asks for it gets the verdict`(claims: String, lines: String, expected: [String]) throws {
        let asserted = "P-Asserted-Identity: <sip:+12025551000@carrier.example>\n"
        let invite = SignedInvite(identity: [try TrustLab.shared.signed(claims)], lines: asserted + lines)
        var setting = SignedCallSetting(isTrusted: true)
        setting.options = { $0.takesVerdict = true }
        func fields() throws -> [String] {
            let sent = try #require(try setting.call(invite).sent)
            return sent.split(separator: "\r\n").map(String.init).filter {
                $0.hasPrefix("P-Attest") || $0.hasPrefix("P-Orig") || $0.lowercased().hasPrefix("x-herald")
            }.sorted()
        }
        #expect(try fields() == expected)
        setting.mode = .shadow
        #expect(try fields() == lines.split(separator: "\n").map(String.init).filter { $0.hasPrefix("P-") })
    }

    /// A dialplan may read the field though `attestation_headers` of its PBX is off.
    @Test(arguments: [true, false]) func `no trunk's X-Herald-Trust reaches a PBX`(isTrusted: Bool) throws {
        let forged = "X-Herald-Trust: passed;attestation=A;signer=123A\nX-HERALD-TRUST:passed\n"
        for signatures in [TrunkSignatures.Mode.decide, nil] {
            var setting = SignedCallSetting(mode: signatures ?? .decide, isTrusted: isTrusted)
            if signatures == nil { setting.options = { $0.signatures = nil } }
            let gateway = try setting.gateway()
            let sent = try #require(
                gateway.receive(SignedInvite(lines: forged).text, from: GatewayUnderTest.trunk)
                    .to(GatewayUnderTest.pbx).first)
            #expect(!sent.lowercased().contains("x-herald-trust"))
        }
    }

    private static let origid = "123e4567-e89b-12d3-a456-426655440000"
    private static let good = "passed;attestation=A;signer=123A"

    // MARK: The name belongs to the number that was signed

    @Test(arguments: [TrunkSignatures.SignedCaller.asserted, .either])
    func `a signature for the asserted number does not vouch for another one`(
        caller: TrunkSignatures.SignedCaller
    ) throws {
        var setting = SignedCallSetting(isTrusted: true)
        setting.rules = { ($0.caller, $0.source) = (caller, .ownOnly) }
        // The name is shown for From, and the signature is for the asserted number.
        setting.options = { ($0.identityOrder, $0.policy) = ([.from], .strict) }
        let invite = SignedInvite(
            identity: [try TrustLab.shared.signed(TrustLab.claims(orig: "12025559999"))],
            lines: "P-Asserted-Identity: <sip:+12025559999@carrier.example>\n")
        let (sent, update) = try setting.call(invite)
        #expect(update?.trust?.result == .passedA)
        #expect(update?.reason == .policy)
        #expect(sent?.contains("Acme") == false)
    }

    @Test func `a provider that the operator denies vouches for nobody`() throws {
        var setting = SignedCallSetting()
        setting.rules = { $0.policy.denied = ["123A"] }
        let update = try setting.call(SignedInvite(identity: [try TrustLab.shared.signed(TrustLab.claims())])).update
        #expect(update?.reason == .untrusted)
        #expect(update?.trust?.causes == [.denied])
    }

    /// How the numbers of a call may be written.
    @Test(arguments: [
        ("sip:12025551000@c.example", "sip:+12025551001@h"), ("sip:(202)555-1000@c.example", "tel:+1-202-555-1001"),
        ("sip:+12025551000;npdi;rn=+12025550000@c.example", "sip:+12025551001;phone-context=x@h"),
        ("sip:2025551000@c.example;user=phone", "sip:%2B12025551001@h"),
    ]) func `numbers compare in canonical form`(from: String, uri: String) throws {
        let invite = SignedInvite(
            identity: [try TrustLab.shared.signed(TrustLab.claims())], from: "<\(from)>", uri: uri, to: "<sip:x@y>")
        #expect(try SignedCallSetting().call(invite).update?.trust?.result == .passedA)
    }

    @Test func `a short code is compared as dialled`() throws {
        let invite = SignedInvite(
            identity: [try TrustLab.shared.signed(TrustLab.claims(dest: "411"))], uri: "sip:411@192.0.2.10")
        #expect(try SignedCallSetting().call(invite).update?.trust?.causes == [.passed])
    }

    @Test(arguments: [
        (TrunkSignatures.CalledPlace.requestURI, "", TrustCause.notANumber), (.to, "", .passed),
        (.calledPartyID, "P-Called-Party-ID: <sip:+12025551001@h>\n", .passed), (.calledPartyID, "", .notANumber),
    ]) func `a trunk that registers has the called number elsewhere`(
        place: TrunkSignatures.CalledPlace, lines: String, cause: TrustCause
    ) throws {
        var setting = SignedCallSetting()
        setting.rules = { $0.called = place }
        var invite = SignedInvite(
            identity: [try TrustLab.shared.signed(TrustLab.claims())], uri: "sip:account@192.0.2.10", lines: lines)
        if place != .to { invite.to = "<sip:account@192.0.2.10>" }
        #expect(try setting.call(invite).update?.trust?.causes == [cause])
    }

    // MARK: Calls without a verdict, and calls that keep their secrets

    /// A call to an emergency service, and its callback by a carrier that is trusted (RFC 5031, RFC 7090).
    @Test(arguments: [("sip:911@192.0.2.10", "", false), ("sip:+12025551001@192.0.2.10", "psap-callback", true)])
    func `an emergency call is not judged`(uri: String, priority: String, isTrusted: Bool) throws {
        var setting = SignedCallSetting(isTrusted: isTrusted)
        setting.rules = { $0.onFailed = .reject }
        let lines = priority.isEmpty ? "" : "Priority: \(priority)\n"
        let invite = SignedInvite(identity: ["x.y.z;info=<a:b>"], uri: uri, lines: lines)
        let (sent, update) = try setting.call(invite)
        #expect(sent != nil)
        #expect(update?.trust == nil)
        #expect(update?.reason == .emergency)
    }

    /// Anybody can write these fields (RFC 3261 §20.26).
    @Test(arguments: ["Priority: emergency\n", "Priority: psap-callback\n", "Resource-Priority: esnet.1\n"])
    func `a caller cannot escape the verdict by a field of its own`(lines: String) throws {
        let invite = SignedInvite(
            identity: [try TrustLab.shared.signed(TrustLab.claims(dest: "12025559999"))], lines: lines)
        var setting = SignedCallSetting()
        let (sent, update) = try setting.call(invite)
        #expect(sent != nil)
        #expect(update?.trust?.result == .failed)
        #expect(update?.reason == .emergency, "and it has no brand")
        setting.rules = { $0.onFailed = .reject }
        #expect(try setting.call(invite).sent == nil)
    }

    /// Anybody can write a Via with the form of the gateway's (RFC 3261 §18.1.1).
    @Test(arguments: [
        "Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKhd0123456789abcdef;rport;hl=0123456789abcdef\n",
        "Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKhd0123456789abcdef\nVia: SIP/2.0/UDP a;branch=z9hG4bKa\n",
    ]) func `a made up Via of the gateway is no earlier pass`(lines: String) throws {
        var setting = SignedCallSetting()
        let good = SignedInvite(identity: [try TrustLab.shared.signed(TrustLab.claims())], lines: lines)
        #expect(try setting.call(good).update?.reason == nil, "it has its brand")
        setting.rules = { $0.onFailed = .reject }
        let bad = SignedInvite(
            identity: [try TrustLab.shared.signed(TrustLab.claims(dest: "12025559999"))], lines: lines)
        #expect(try setting.call(bad).sent == nil)
    }

    /// The carrier sends a call back for another number, which its token does not name (RFC 5393 §4).
    @Test func `a call that has passed here before has no verdict, and no other call takes its Via`() throws {
        var setting = SignedCallSetting()
        setting.rules = { $0.onFailed = .reject }
        let gateway = try setting.gateway()
        let invite = SignedInvite(identity: [try TrustLab.shared.signed(TrustLab.claims())])
        let sent = try #require(
            gateway.receive(invite.text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let back = sent.replacing("INVITE sip:+12025551001@", with: "INVITE sip:+12025558888@")
        let copied = back.replacing("Call-ID: signed@", with: "Call-ID: other@")
            .replacing("To: <sip:+12025551001@", with: "To: <sip:+12025558888@")
        #expect(gateway.receive(copied, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).isEmpty)
        #expect(gateway.receive(back, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).count == 1)
    }

    @Test func `where Herald's verdict alone counts, a call without Identity has no attestation`() throws {
        let invite = SignedInvite(
            lines: "P-Asserted-Identity: <sip:+12025551000;verstat=TN-Validation-Passed-A@carrier.example>\n")
        var setting = SignedCallSetting(isTrusted: true)
        setting.options = { $0.policy = .strict }
        #expect(try setting.call(invite).update?.reason == nil, "by default the trunk's word counts")
        setting.rules = { $0.source = .ownOnly }
        let update = try setting.call(invite).update
        #expect(update?.reason == .policy)
        #expect(update?.trust?.causes == [.unsigned])
        setting.mode = .shadow
        let gateway = try setting.gateway()
        _ = gateway.receive(invite.text, from: GatewayUnderTest.trunk)
        let watched = try #require(gateway.updates().first)
        #expect(watched.reason == nil && watched.trust?.counts == false)
        #expect(watched.trust?.causes == [.unsigned] && watched.trust?.changesCall == true)
        #expect(gateway.shared.trust.counters.changedCalls == 1)
    }

    @Test(arguments: [TrunkSignatures.Mode.shadow, .decide])
    func `a call without Identity that no rule judges has no verdict`(mode: TrunkSignatures.Mode) throws {
        let setting = SignedCallSetting(mode: mode, isTrusted: true)
        let gateway = try setting.gateway()
        _ = gateway.receive(SignedInvite(lines: "P-Identity-Bypass: x\n").text, from: GatewayUnderTest.trunk)
        #expect(gateway.updates().first.map { $0.trust == nil } == true)
        #expect(gateway.shared.trust.counters.count(TrustEvidence.Result.none) == 0)
    }

    @Test func `a withheld caller is verified and shown nowhere`() throws {
        let invite = SignedInvite(
            identity: [try TrustLab.shared.signed(TrustLab.claims())],
            from: "\"Anonymous\" <sip:anonymous@anonymous.invalid>",
            lines: "P-Asserted-Identity: <sip:+12025551000@carrier.example>\nPrivacy: id\n")
        let (sent, update) = try SignedCallSetting(isTrusted: true).call(invite)
        #expect(update?.trust?.result == .passedA)
        #expect(update?.reason == .privacy)
        #expect(update?.caller == 0)
        #expect(update?.trust?.origid == nil)
        #expect(sent?.contains("Acme") == false)
    }

    @Test func `verification is shed before calls are, and not in a burst`() throws {
        let gateway = try SignedCallSetting().gateway()
        let token = try TrustLab.shared.signed(TrustLab.claims())
        gateway.gateway.filling = 0.4
        for number in 0..<200 {
            _ = gateway.pass(.milliseconds(1))
            _ = gateway.receive(
                SignedInvite(identity: [token], callID: "q\(number)@h").text, from: GatewayUnderTest.trunk)
        }
        let shed = gateway.updates().map { $0.trust?.causes == [.shed] }
        let first = try #require(shed.firstIndex(of: true))
        #expect(first > 10, "a burst of some milliseconds sheds nothing")
        #expect(gateway.counters.count(.callsShed) > 0)
        // Each call that was taken after the first shed verification went on without a verdict.
        #expect(shed[first...].allSatisfy { $0 })
        #expect(gateway.updates().last?.reason == .untrusted)
    }

    @Test func `France has a cause for unsigned calls`() throws {
        let update = try SignedCallSetting(regime: "fr").call(SignedInvite()).update
        #expect(update?.trust?.causes == [.unsigned])
        #expect(update?.trust?.code == 428)
        let bypass = try SignedCallSetting(regime: "fr").call(SignedInvite(lines: "P-Identity-Bypass: x\n")).update
        #expect(bypass?.trust?.causes == [.bypass])
    }

    /// Date beside a token of 19:23:38 (RFC 3261 §20.17), where the regime compares it.
    @Test(arguments: [
        ("Tue, 16 Aug 2016 19:23:38 GMT", TrustCause.passed), ("Tue, 16 Aug 2016 19:22:38 GMT", .passed),
        ("Tue, 16 Aug 2016 19:22:37 GMT", .date), ("Tue, 16 Aug 2016 19:24:39 GMT", .date),
        ("Mon, 29 Feb 2016 19:23:38 GMT", .date), ("Tue, 16 Aug 2016 19:23 GMT", .passed), ("yesterday", .passed),
        ("Tue, 16 Foo 2016 19:23:38 GMT", .passed), ("Tue, 99 Aug 2016 19:23:38 GMT", .passed),
    ]) func `a Date that can be read must fit the token`(date: String, cause: TrustCause) throws {
        let invite = SignedInvite(
            identity: [try TrustLab.shared.signed(TrustLab.claims())], lines: "Date: \(date)\n")
        #expect(try SignedCallSetting(regime: "fr").call(invite).update?.trust?.causes == [cause])
    }

    // MARK: Signers that are not known

    @Test func `an unknown signer is asked for, but only for a call that it could have signed`() throws {
        let lab = TrustLab.shared
        let gateway = try SignedCallSetting(known: []).gateway()
        for (number, claims) in [
            TrustLab.claims(iat: 1_471_370_000), TrustLab.claims(dest: "12025559999"), TrustLab.claims(),
            TrustLab.claims(),
        ].enumerated() {
            let invite = SignedInvite(identity: [try lab.signed(claims)], callID: "c\(number)@h")
            _ = gateway.receive(invite.text, from: GatewayUnderTest.trunk)
        }
        let address = try #require(lab.certificates["spc"]?.x5u)
        let asked = gateway.shared.trust.requests.takeAll()
        #expect(asked.map(\.request) == [.fetch(address: address)])
        #expect(asked.first?.trunk == TrunkPeer.mark(of: "carrier"))
        #expect(gateway.updates().last?.trust?.causes == [.signerNotYetKnown])
        #expect(gateway.updates().last?.reason == .untrusted)
    }

    @Test func `a token that comes again is marked, and not by a retransmission`() throws {
        let gateway = try SignedCallSetting().gateway()
        var invite = SignedInvite(identity: [try TrustLab.shared.signed(TrustLab.claims())])
        _ = gateway.receive(invite.text, from: GatewayUnderTest.trunk)
        _ = gateway.receive(invite.text, from: GatewayUnderTest.trunk)
        invite.callID = "second@carrier.example"
        _ = gateway.receive(invite.text, from: GatewayUnderTest.trunk)
        #expect(gateway.updates().compactMap(\.trust).map(\.marks) == [[], [.seenBefore]])
        #expect(gateway.shared.trust.counters.count(.seenBefore) == 1)
    }
}
