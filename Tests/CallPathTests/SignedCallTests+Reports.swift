// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing
import Trust
import TrustFixtures

extension SignedCallTests {
    // MARK: Rejection

    @Test(arguments: [
        (TrustLab.claims(iat: 1_471_375_000), "SIP/2.0 403 Stale Date"),
        (TrustLab.claims(dest: "12025559999"), "SIP/2.0 438 Invalid Identity Header"),
    ]) func `a call is rejected only where the trunk has the key`(claims: String, line: String) throws {
        let invite = SignedInvite(identity: [try TrustLab.shared.signed(claims)])
        for (mode, onFailed) in [
            (TrunkSignatures.Mode.decide, TrunkSignatures.OnFailed.reject), (.shadow, .reject), (.decide, .pass),
            (.decide, .noBrand),
        ] {
            var setting = SignedCallSetting(mode: mode)
            setting.rules = { $0.onFailed = onFailed }
            let gateway = try setting.gateway()
            let sent = gateway.receive(invite.text, from: GatewayUnderTest.trunk)
            let isRejected = mode == .decide && onFailed == .reject
            #expect(sent.to(GatewayUnderTest.pbx).isEmpty == isRejected)
            #expect(sent.to(GatewayUnderTest.trunk).contains { $0.hasPrefix(line) } == isRejected)
            let reason: PassThroughReason = mode == .decide && onFailed == .noBrand ? .failedVerification : .untrusted
            if !isRejected { #expect(gateway.updates().first?.reason == reason) }
            #expect(gateway.updates().first?.trust?.changesCall == (onFailed != .pass), "in shadow it would")
            #expect(gateway.shared.calls.count == (isRejected ? 0 : 1))
        }
    }

    @Test func `a rejected call is accounted for with signer, cause and code`() throws {
        var setting = SignedCallSetting()
        setting.rules = { $0.onFailed = .reject }
        let gateway = try setting.gateway()
        let bad = SignedInvite(identity: [try TrustLab.shared.signed(TrustLab.claims(dest: "12025559999"))])
        gateway.shared.trace.start()
        _ = gateway.receive(bad.text, from: GatewayUnderTest.trunk)
        let updates = gateway.updates()
        #expect(updates.map(\.kind) == [.invite, .failed])
        let (invite, end) = (try #require(updates.first), try #require(updates.last))
        #expect(invite.reason == .failedVerification && invite.caller == 12_025_551_000)
        #expect(invite.trust?.isRejected == true && invite.trust?.causes == [.calledMismatch])
        #expect(invite.trust?.code == 438 && invite.evidence?.lookup == .notMade)
        #expect(end.status == 438 && end.isOwn && end.call == invite.call)
        #expect(gateway.counters.count(.inboundCalls) == 1)
        var (record, kinds) = (TraceRecord(), [TraceRecord.Kind]())
        while gateway.shared.trace.take(into: &record) {
            kinds.append(record.kind)
            if record.kind == .decided { #expect(record.decision.signature?.evidence.isRejected == true) }
        }
        #expect(kinds == [.received, .decided])
        // A retransmission is the same call. The attempt with another token is a call of its own (RFC 8224 §6.2.2).
        _ = gateway.receive(bad.text, from: GatewayUnderTest.trunk)
        #expect(gateway.updates().last?.call == invite.call)
        let good = SignedInvite(identity: [try TrustLab.shared.signed(TrustLab.claims())]).text
        let again = good.replacing("branch=z9hG4bK", with: "branch=z9hG4bKx").replacing("CSeq: 1", with: "CSeq: 2")
        #expect(gateway.receive(again, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).count == 1)
        let next = try #require(gateway.updates().last)
        #expect(next.kind == .invite && next.call != invite.call && next.trust?.isRejected == false)
    }

    @Test func `a rejected caller who withholds the number has no number in the account`() throws {
        var setting = SignedCallSetting(isTrusted: true)
        setting.rules = { $0.onFailed = .reject }
        let gateway = try setting.gateway()
        let invite = SignedInvite(
            identity: [try TrustLab.shared.signed(TrustLab.claims(dest: "12025559999"))],
            from: "\"Anonymous\" <sip:anonymous@anonymous.invalid>",
            lines: "P-Asserted-Identity: <sip:+12025551000@carrier.example>\nPrivacy: id\n")
        _ = gateway.receive(invite.text, from: GatewayUnderTest.trunk)
        let update = try #require(gateway.updates().first)
        #expect(update.reason == .privacy && update.caller == 0)
        #expect(update.trust?.isRejected == true && update.trust?.origid == nil)
    }

    @Test func `a rejected branch leaves the other branch of a forked call`() throws {
        var setting = SignedCallSetting()
        setting.rules = { $0.onFailed = .reject }
        let gateway = try setting.gateway()
        var invite = SignedInvite(identity: [try TrustLab.shared.signed(TrustLab.claims())])
        let forwarded = try #require(
            gateway.receive(invite.text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        (invite.uri, invite.to) = ("sip:+12025558888@192.0.2.10", "<sip:+12025558888@192.0.2.10>")
        let other = invite.text.replacing(";rport", with: "x;rport")
        let sent = gateway.receive(other, from: GatewayUnderTest.trunk)
        #expect(sent.to(GatewayUnderTest.trunk).contains { $0.hasPrefix("SIP/2.0 438 ") })
        #expect(gateway.shared.calls.count == 1)
        // The call has one called party, as if the rejected branch had never come.
        _ = gateway.receive(response("200 OK", to: forwarded), from: GatewayUnderTest.pbx)
        let (first, last) = (try #require(gateway.updates().first), try #require(gateway.updates().last))
        #expect(last.kind == .answered && last.call == first.call && last.calledMark == 0)
    }

    // MARK: Reports to the trunk

    /// RFC 9410: the next provisional response above 100 has one value for each header field with an error, once.
    @Test func `a trunk learns of each header field with an error`() throws {
        let lab = TrustLab.shared
        let bad = try lab.signed(TrustLab.claims(dest: "12025559999"))
        let stale = try lab.signed(TrustLab.claims(iat: 1_471_375_000))
        let signatures = [bad, stale].map { $0.prefix { $0 != ";" }.split(separator: ".")[2] }
        var setting = SignedCallSetting()
        setting.rules = { $0.policy.regimes[0].reason = .stir }
        let gateway = try setting.gateway()
        let invite = SignedInvite(identity: [bad, try lab.signed(TrustLab.claims()), stale])
        let forwarded = try #require(
            gateway.receive(invite.text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        func reasons(_ status: String) -> [String] {
            let sent = gateway.receive(response(status, to: forwarded), from: GatewayUnderTest.pbx)
            return sent.to(GatewayUnderTest.trunk).flatMap { $0.split(separator: "\r\n") }
                .filter { $0.hasPrefix("Reason:") }.map(String.init)
        }
        #expect(
            reasons("180 Ringing") == [
                "Reason: STIR;cause=438;text=\"Invalid Identity Header\";ppi=\"..\(signatures[0])\"",
                "Reason: STIR;cause=403;text=\"Stale Date\";ppi=\"..\(signatures[1])\"",
            ])
        #expect(reasons("183 Progress").isEmpty)
        #expect(reasons("200 OK").isEmpty)
    }

    /// What a regime, a mode and a response have in common.
    @Test(arguments: [
        (TrunkSignatures.Mode.decide, TrustRegime.Reason.sip, TrustRegime.ReasonPlace.ok, "200 OK", true),
        (.decide, .sip, .ok, "180 Ringing", false), (.decide, .sip, .next, "486 Busy Here", true),
        (.shadow, .sip, .next, "180 Ringing", false), (.decide, .off, .next, "180 Ringing", false),
    ]) func `the regime has protocol and place of a report`(
        mode: TrunkSignatures.Mode, reason: TrustRegime.Reason, place: TrustRegime.ReasonPlace, status: String,
        isReported: Bool
    ) throws {
        var setting = SignedCallSetting(mode: mode)
        setting.rules = { ($0.policy.regimes[0].reason, $0.policy.regimes[0].reasonPlace) = (reason, place) }
        let gateway = try setting.gateway()
        let invite = SignedInvite(identity: [try TrustLab.shared.signed(TrustLab.claims(iat: 1_471_375_000))])
        let forwarded = try #require(
            gateway.receive(invite.text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let sent = gateway.receive(response(status, to: forwarded), from: GatewayUnderTest.pbx)
        let line = "\r\nReason: SIP;cause=403;text=\"Stale Date\"\r\n"
        #expect(sent.to(GatewayUnderTest.trunk).contains { $0.contains(line) } == isReported)
        let isDue = mode == .decide && reason != .off
        #expect(gateway.updates().first?.trust?.isReported == isDue, "the account says whether a report is due")
    }

    @Test(arguments: ["a.b.\" x", "a.b.\(String(repeating: "x", count: 2000))", "no dots", "..", "a.b.Ã¤"])
    func `no foreign text reaches a report`(token: String) throws {
        var setting = SignedCallSetting()
        setting.rules = { $0.policy.regimes[0].reason = .stir }
        let gateway = try setting.gateway()
        let invite = SignedInvite(identity: ["\(token);info=<https://cert.example.net/spc.pem>;ppt=shaken"])
        let forwarded = try #require(
            gateway.receive(invite.text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let sent = gateway.receive(response("180 Ringing", to: forwarded), from: GatewayUnderTest.pbx)
        #expect(sent.to(GatewayUnderTest.trunk).contains { $0.contains("Reason: STIR;cause=4") && !$0.contains("ppi") })
    }
}
