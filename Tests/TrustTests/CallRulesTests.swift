// SPDX-License-Identifier: Apache-2.0

import Testing
import TrustFixtures

@testable import Trust

/// Numbers, time, signers, regimes and the budget of a call.
@Suite("Rules of a signed call")
struct CallRulesTests {
    private static let lab = TrustLab.shared
    private static let now: Int64 = 1_471_375_428

    // MARK: Numbers

    @Test(arguments: ["0", "12025551000", "123456789012345", "*123#", "911"])
    func `a number in canonical form is its text`(_ text: String) throws {
        let number = try #require(CanonicalNumber(text))
        #expect(number.text == text && number.count == text.utf8.count)
        #expect(CanonicalNumber(text + "1") != number)
    }

    @Test(arguments: [1, 10, 911, 12_025_551_000, 999_999_999_999_999] as [UInt64])
    func `the digits of an integer are a number`(_ digits: UInt64) {
        #expect(CanonicalNumber(digits: digits) == CanonicalNumber("\(digits)"))
    }

    @Test(arguments: [0, 1_000_000_000_000_000, .max] as [UInt64])
    func `no number has no digit or more than fifteen`(_ digits: UInt64) {
        #expect(CanonicalNumber(digits: digits) == nil)
    }

    @Test(arguments: ["", "+12025551000", "1 202", "1-202", "1234567890123456", "abc", "1２"])
    func `any other text is no number`(_ text: String) { #expect(CanonicalNumber(text) == nil) }

    @Test func `numbers of another length differ`() {
        // RFC 8224 §8.3: numbers compare as text.
        #expect(CanonicalNumber("1") != CanonicalNumber("10"))
        #expect(CanonicalNumber("01") != CanonicalNumber("1"))
        #expect(CanonicalNumber("100")?.value == 100 && CanonicalNumber("10#")?.value == nil)
    }

    @Test(
        arguments: [
            ("12025551000", "12025551001", "12025551001", .passed, "RFC 8224 §6.2: both numbers"),
            ("12025551000", "12025559999", "12025551001", .toOnly, "To alone binds nothing"),
            ("12025551000", "12025559999", "12025559999", .calledMismatch, "another callee"),
            ("12025559999", "12025551001", "12025551001", .callerMismatch, "another caller"),
            ("12025559999", "12025559999", "12025559999", .callerMismatch, "the caller comes first"),
            ("anonymous", "12025551001", "12025551001", .notANumber, "a caller without a number"),
            ("12025551000", "office", "office", .notANumber, "a callee without a number"),
            ("12025551000", "office", "12025551001", .toOnly, "an account, and the number in To"),
        ] as [(String, String, String, TrustCause, String)])
    func `numbers of the call and of the token are compared`(
        _ caller: String, _ called: String, _ to: String, _ expected: TrustCause, _ rule: String
    ) throws {
        let value = try Self.lab.signed(TrustLab.claims())
        let call = SignedCall(caller: caller, called: called, to: to)
        #expect(try Self.lab.snapshot(["spc"]).verify([value], of: call).causes == [expected], "\(rule)")
    }

    @Test func `the operator sees the numbers of a token for another call`() throws {
        let value = try Self.lab.signed(TrustLab.claims())
        let snapshot = try Self.lab.snapshot(["spc"])
        let claimed = TrustVerdict.Claimed(
            caller: CanonicalNumber("12025551000"), called: CanonicalNumber("12025551001"))
        #expect(snapshot.verify([value], of: SignedCall(caller: "1", called: "12025551001")).claimed == claimed)
        #expect(snapshot.verify([value], of: SignedCall(caller: "12025551000", called: "2")).claimed == claimed)
        #expect(snapshot.verify([value]).claimed == nil)
    }

    @Test func `a trunk may accept either caller and a retargeted call`() throws {
        let value = try Self.lab.signed(TrustLab.claims())
        let snapshot = try Self.lab.snapshot(["spc"])
        var call = SignedCall(caller: "12025557777", called: "12025551001")
        call.otherCaller = CanonicalNumber("12025551000")
        #expect(snapshot.verify([value], of: call).number == .passed(.a))
        call.caller = nil
        #expect(snapshot.verify([value], of: call).number == .passed(.a))
        var policy = TrustLab.policy("us")
        policy.retargeted = .accept
        let retargeted = SignedCall(caller: "12025551000", called: "12025559999", to: "12025551001")
        #expect(snapshot.verify([value], of: retargeted, under: policy).number == .passed(.a))
    }

    // MARK: Time

    @Test(
        arguments: [
            (0, .passed), (-60, .passed), (60, .passed), (-61, .stale), (61, .future), (-4_000_000, .stale),
            (Int64(1) << 52, .future), (-(Int64(1) << 52), .stale),
        ] as [(Int64, TrustCause)])
    func `a token is fresh for a minute`(_ offset: Int64, _ expected: TrustCause) throws {
        // RFC 8224 §6.2 step 4.
        let value = try Self.lab.signed(TrustLab.claims(iat: Self.now + offset))
        let snapshot = Self.lab.snapshot(of: try Self.lab.signer("spc", validity: -(1 << 60)...(1 << 60)))
        #expect(snapshot.verify([value]).causes == [expected])
    }

    @Test(
        arguments: [
            (#","exp":1471375428"#, .passed, "RFC 7519 §4.1.4: a leeway of a minute"),
            (#","exp":1471375369"#, .passed, "within the leeway"), (#","exp":1471375368"#, .stale, "beyond it"),
            (#","nbf":1471375488"#, .passed, "RFC 7519 §4.1.5: within the leeway"),
            (#","nbf":1471375489"#, .future, "beyond it"), (#","exp":"1471375488""#, .claims, "a time as text"),
            (#","nbf":1471375428.5"#, .claims, "half a second"),
        ] as [(String, TrustCause, String)])
    func `a token may have bounds of its own`(_ claim: String, _ expected: TrustCause, _ rule: String) throws {
        let value = try Self.lab.signed(TrustLab.claims(claim))
        #expect(try Self.lab.snapshot(["spc"]).verify([value]).causes == [expected], "\(rule)")
    }

    @Test func `a certificate is in force from the token on until now`() throws {
        let value = try Self.lab.signed(TrustLab.claims(iat: Self.now - 10))
        let rows: [(ClosedRange<Int64>, TrustCause)] = [
            (Self.now - 10...Self.now, .passed), (Self.now - 9...Self.now, .certificateExpired),
            (Self.now - 10...Self.now - 1, .certificateExpired),
        ]
        for (validity, expected) in rows {
            let snapshot = Self.lab.snapshot(of: try Self.lab.signer("spc", validity: validity))
            #expect(snapshot.verify([value]).causes == [expected], "\(validity)")
        }
    }

    @Test func `the clock is suspect by many signers and never by one`() {
        var clock = ClockGuard()
        for _ in 0..<100 { clock.take(Self.now - 90, of: 1, at: Self.now) }
        #expect(clock.offset(at: Self.now) == nil && !clock.isSuspect(at: Self.now))
        for signer in 2...7 { clock.take(Self.now - 90, of: Int64(signer), at: Self.now) }
        #expect(!clock.isSuspect(at: Self.now))
        clock.take(Self.now - 90, of: 8, at: Self.now)
        #expect(clock.offset(at: Self.now) == -90 && clock.isSuspect(at: Self.now))
        #expect(!clock.isSuspect(at: Self.now + 3601), "old offsets do not count")
        // Nine signers with the right time outvote eight.
        for signer in 10...18 { clock.take(Self.now, of: Int64(signer), at: Self.now) }
        #expect(!clock.isSuspect(at: Self.now))
        for signer in 20..<200 { clock.take(Self.now + 31, of: Int64(signer), at: Self.now) }
        #expect(clock.offset(at: Self.now) == 31 && clock.isSuspect(at: Self.now))
        clock.take(.min, of: 1, at: .max)
        clock.take(.max, of: 2, at: .min)
        #expect(clock.offset(at: 0) == nil)
    }

    @Test func `late tokens cost twelve signatures a minute`() {
        var clock = ClockGuard()
        #expect((0..<20).filter { _ in clock.mayProbe(at: Self.now) }.count == 12)
        #expect((0..<20).filter { _ in clock.mayProbe(at: Self.now + 60) }.count == 12)
    }

    @Test func `a suspect clock takes failures and gives nothing`() throws {
        let snapshot = try Self.lab.snapshot()
        var memory = TrustMemory()
        let late = Self.now + 90
        for number in 1...8 {
            let value = try Self.lab.signed(TrustLab.claims(), by: "clock-\(number)")
            _ = snapshot.verify([value], at: late, with: &memory)
        }
        func cause(_ payload: String, _ call: SignedCall = .usual) throws -> TrustCause? {
            snapshot.verify([try Self.lab.signed(payload)], of: call, at: late, with: &memory).causes.first
        }
        #expect(try cause(TrustLab.claims()) == .clockSuspect)
        #expect(try cause(TrustLab.claims(iat: late)) == .passed, "a fresh token still passes")
        #expect(try cause(TrustLab.claims(iat: late), SignedCall(caller: "1", called: "2")) == .callerMismatch)
    }

    // MARK: Signers

    /// Standings under two regimes of a trunk; the first one may have no anchor.
    @Test(
        arguments: [
            ([.signerNotYetKnown, .passed], .passed), ([.signerNotYetKnown, .untrustedSigner], .signerNotYetKnown),
            ([.untrustedSigner, .signerNotYetKnown], .signerNotYetKnown), ([.signerNotYetKnown, .revoked], .revoked),
            ([.untrustedSigner, .untrustedSigner], .untrustedSigner),
        ] as [([TrustCause], TrustCause)])
    func `a regime without anchors is no evidence against a signer`(
        _ standings: [TrustCause], _ expected: TrustCause
    ) throws {
        let signer = try Self.lab.signer("spc", standings: standings)
        var policy = TrustLab.policy("us")
        policy.regimes = Array(TrustLab.regimes[..<2])
        let verdict = Self.lab.snapshot(of: signer).verify([try Self.lab.signed(TrustLab.claims())], under: policy)
        #expect(verdict.causes == [expected])
    }

    @Test func `a denied signer counts as none`() throws {
        let signer = try Self.lab.signer("spc")
        var policy = TrustLab.policy("us")
        policy.denied = ["567B", "123A"]
        let verdict = Self.lab.snapshot(of: signer).verify([try Self.lab.signed(TrustLab.claims())], under: policy)
        #expect(verdict.causes == [.denied])
        #expect(verdict.number == .none)
    }

    @Test(arguments: [
        (["123A"], "123a", true), (["123a"], "123A", true), (["567B", "abcd"], "ABCD", true), (["123A"], "123", false),
        (["123A"], "", false), ([], "123A", false),
    ]) func `letters of a provider code compare without case`(codes: [String], written: String, isSame: Bool) {
        #expect(AuthorityList(codes: codes).hasCode(in: [ProviderCode.folded(written)]) == isSame)
        #expect(!AuthorityList(codes: codes).hasCode(in: []))
    }

    @Test(
        arguments: [
            (.certificateUnreachable, .none), (.crlStale, .none), (.signerNotYetKnown, .none), (.revoked, .failed),
            (.untrustedSigner, .failed), (.certificatePolicy, .failed), (.noAuthority, .failed),
            (.certificateMalformed, .failed),
        ] as [(TrustCause, TrustVerdict.Number)])
    func `the stored state of a signer is the cause`(_ standing: TrustCause, _ expected: TrustVerdict.Number) throws {
        let signer = try Self.lab.signer("spc", standings: [standing, standing, standing])
        let verdict = Self.lab.snapshot(of: signer).verify([try Self.lab.signed(TrustLab.claims())])
        #expect(verdict.causes == [standing] && verdict.number == expected)
        #expect(verdict.requests.isEmpty)
        #expect((verdict.signer?.row == signer.row) == (expected == .failed), "the operator sees who failed")
    }

    @Test func `the first regime that a chain reaches judges the signer`() throws {
        let value = try Self.lab.signed(TrustLab.claims())
        func verdict(_ standings: [TrustCause], _ regimes: [String]) throws -> TrustVerdict {
            var policy = TrustLab.policy(regimes[0])
            policy.regimes = regimes.compactMap { name in TrustLab.regimes.first { $0.name == name } }
            return Self.lab.snapshot(of: try Self.lab.signer("spc", standings: standings)).verify(
                [value], under: policy)
        }
        let alien = TrustCause.untrustedSigner
        #expect(try verdict([alien, alien, .passed], ["us", "private"]).number == .passed(.a))
        #expect(try verdict([.revoked, alien, .passed], ["us", "private"]).causes == [.revoked])
        // An anchor of a regime that the trunk has not: no evidence against the call.
        let foreign = try verdict([alien, .passed, alien], ["us", "private"])
        #expect(foreign.causes == [.untrustedSigner] && foreign.number == .none)
        #expect(try verdict([alien, alien, alien], ["us"]).number == .failed)
        #expect(try verdict([], ["us"]).causes == [.signerNotYetKnown], "a state that was never decided")
    }

    @Test func `an address counts if any regime of the trunk allows it`() throws {
        let header = #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":"http://10.0.0.1:8080/c"}"#
        let value = try Self.lab.signed(
            TrustLab.claims(), header: header, parameters: ";info=<http://10.0.0.1:8080/c>;alg=ES256;ppt=shaken")
        var policy = TrustLab.policy("us")
        let snapshot = try Self.lab.snapshot()
        #expect(snapshot.verify([value], under: policy).causes == [.badAddress])
        policy.regimes += TrustLab.policy("private").regimes
        #expect(snapshot.verify([value], under: policy).causes == [.signerNotYetKnown])
    }

    @Test func `a policy of another set of regimes knows no signer`() throws {
        var policy = TrustLab.policy("us")
        policy.regimeSet += 1
        let verdict = try Self.lab.snapshot(["spc"]).verify([try Self.lab.signed(TrustLab.claims())], under: policy)
        #expect(verdict.causes == [.signerNotYetKnown] && verdict.number == .none)
    }

    @Test func `an unknown signer is asked for once and only by a call of ours`() throws {
        let value = try Self.lab.signed(TrustLab.claims())
        let empty = TrustSnapshot(generation: 1, regimeSet: TrustLab.regimeSet, [])
        let address = "https://cert.example.net/spc.pem"
        #expect(empty.verify([value, value]).requests == [.fetch(address: address)])
        #expect(empty.verify([value], of: SignedCall(caller: "1", called: "2")).requests.isEmpty)
        #expect(empty.verify([value], at: Self.now + 3600).requests.isEmpty)
        let item = try #require(Self.lab.cases.first { $0.id == "x03" })
        guard case .check(let chain)? = empty.verify(item.identity).requests.first else {
            Issue.record("a chain in the token is checked and not fetched")
            return
        }
        #expect(chain.count == 2 && chain.allSatisfy { $0.hasPrefix("MII") })
    }

    @Test func `a wrong signature asks for the certificate once more`() throws {
        let value = try Self.lab.signed(TrustLab.claims(), by: "swapped")
        let address = "https://cert.example.net/swapped.pem"
        let wrong = try Self.lab.signer("spc")
        func verdict(_ signer: Signer, fetches: Bool) -> TrustVerdict {
            Self.lab.snapshot(of: signer, at: "swapped").verify([value], under: TrustLab.policy("us", fetches: fetches))
        }
        let first = verdict(wrong, fetches: true)
        #expect(first.causes == [.signerChanged] && first.number == .none)
        #expect(first.requests == [.renew(address: address)])
        let renewed = verdict(try Self.lab.signer("spc", isRenewed: true), fetches: true)
        #expect(renewed.causes == [.badSignature] && renewed.number == .failed && renewed.requests.isEmpty)
        #expect(verdict(wrong, fetches: false).causes == [.badSignature])
    }

    @Test func `a certificate that is not in force is asked for once`() throws {
        let value = try Self.lab.signed(TrustLab.claims())
        func verdict(isRenewed: Bool, fetches: Bool = true) throws -> TrustVerdict {
            let ended = try Self.lab.signer("spc", validity: 0...1_471_375_400, isRenewed: isRenewed)
            return Self.lab.snapshot(of: ended).verify([value], under: TrustLab.policy("us", fetches: fetches))
        }
        let first = try verdict(isRenewed: false)
        #expect(first.causes == [.certificateExpired] && first.number == .failed)
        #expect(first.requests == [.renew(address: "https://cert.example.net/spc.pem")])
        #expect(try verdict(isRenewed: true).requests.isEmpty)
        #expect(try verdict(isRenewed: false, fetches: false).requests.isEmpty)
    }

    @Test(arguments: [
        (TrustCause.revoked, true), (.certificateExpired, true), (.noAuthority, true), (.untrustedSigner, true),
        (.certificatePolicy, true), (.certificateMalformed, true), (.crlStale, false), (.signerNotYetKnown, false),
    ])
    func `a certificate that was replaced at its address is asked for once`(cause: TrustCause, asks: Bool) throws {
        let value = try Self.lab.signed(TrustLab.claims())
        func requests(isRenewed: Bool = false, fetches: Bool = true) throws -> [SignerRequest] {
            let stored = try Self.lab.signer("spc", standings: [cause, cause, cause], isRenewed: isRenewed)
            let verdict = Self.lab.snapshot(of: stored).verify(
                [value], under: TrustLab.policy("us", fetches: fetches))
            #expect(verdict.causes == [cause])
            return verdict.requests
        }
        #expect(try requests() == (asks ? [.renew(address: "https://cert.example.net/spc.pem")] : []))
        #expect(try requests(isRenewed: true).isEmpty && requests(fetches: false).isEmpty)
    }

    @Test(arguments: [
        (TrustCause.certificateUnreachable, TrustVerdict.Number.none), (.certificateMalformed, .failed),
        (.untrustedSigner, .failed), (.certificatePolicy, .failed),
    ])
    func `an address without a certificate has the cause of its last fetch, and calls ask on`(
        cause: TrustCause, number: TrustVerdict.Number
    ) throws {
        let value = try Self.lab.signed(TrustLab.claims())
        let entry = Signer(row: 0, key: nil, standings: [cause, cause, cause])
        let snapshot = Self.lab.snapshot(of: entry)
        let verdict = snapshot.verify([value], under: TrustLab.policy("us", fetches: true))
        #expect(verdict.causes == [cause] && verdict.number == number && verdict.signer == nil)
        #expect(verdict.requests == [.fetch(address: "https://cert.example.net/spc.pem")])
        #expect(snapshot.verify([value], under: TrustLab.policy("us")).requests.isEmpty)
    }

    /// Whatever is wrong with the form, the time or the numbers of a token, its certificate is not wanted.
    @Test(arguments: TrustLab.shared.cases)
    func `only a token that fits the call asks for its signer`(item: TrustLab.Case) {
        let empty = TrustSnapshot(generation: 1, regimeSet: TrustLab.regimeSet, [])
        let call = SignedCall(caller: item.caller, called: item.called, to: item.to)
        let verdict = empty.verify(
            item.identity, of: call, under: TrustLab.policy("private", fetches: true), at: item.now)
        let unknown = verdict.causes.contains { $0 == .signerNotYetKnown }
        // The cause of a chain of diversions is that of its worst member.
        let isChain = item.id.hasPrefix("d")
        #expect(verdict.requests.isEmpty || unknown || isChain, "\(verdict.causes)")
        #expect(!unknown || !verdict.requests.isEmpty)
    }

    @Test func `a certificate that names the number is full attestation`() throws {
        let range = try #require(
            CanonicalNumber("12025551000").flatMap { AuthorityList.NumberRange(start: $0, count: 1) })
        let payload = #"{"dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"tn":"12025551000"}}"#
        let value = try Self.lab.signed(payload, ppt: nil)
        func number(_ authority: AuthorityList) throws -> TrustVerdict.Number {
            Self.lab.snapshot(of: try Self.lab.signer("spc", authority: authority)).verify([value]).number
        }
        #expect(try number(AuthorityList(ranges: [range])) == .passed(.a))
        #expect(try number(AuthorityList(codes: ["123A"])) == .passed(nil))
        #expect(try number(AuthorityList(codes: ["123A"], ranges: [range])) == .passed(.a))
    }

    @Test func `a key beside the curve has signed nothing`() throws {
        let key = try #require(SignerKey(x963: [4] + [UInt8](repeating: 1, count: 64)))
        let signer = Signer(
            row: 1, key: key, authority: AuthorityList(codes: ["1"]), validity: 0...4_000_000_000, standings: [.passed])
        #expect(
            Self.lab.snapshot(of: signer).verify([try Self.lab.signed(TrustLab.claims())]).causes == [.badSignature])
        #expect(SignerKey(x963: []) == nil && SignerKey(x963: [2] + [UInt8](repeating: 1, count: 64)) == nil)
        let lacking = Signer(
            row: 1, key: nil, authority: AuthorityList(codes: ["1"]), validity: 0...4_000_000_000, standings: [.passed])
        #expect(Self.lab.snapshot(of: lacking).verify([try Self.lab.signed(TrustLab.claims())]).number == .none)
    }

    // MARK: Budget and memory

    @Test func `eight header fields are read and six signatures are checked`() throws {
        let values = try (0..<9).map { try Self.lab.signed(TrustLab.claims(iat: Self.now - Int64($0))) }
        let snapshot = try Self.lab.snapshot(["spc"])
        var memory = TrustMemory()
        let first = snapshot.verify(values, with: &memory)
        #expect(first.causes == [.passed, .passed, .passed, .passed, .passed, .passed, .tooMany, .tooMany])
        #expect(first.unread == 1 && first.number == .passed(.a))
        // A retransmission costs no signature for those that were checked.
        let second = snapshot.verify(values, with: &memory)
        #expect(second.causes == [TrustCause](repeating: .passed, count: 8))
    }

    @Test func `a result counts for its snapshot alone`() throws {
        let value = try Self.lab.signed(TrustLab.claims())
        var memory = TrustMemory()
        let signer = try Self.lab.signer("spc")
        #expect(Self.lab.snapshot(of: signer).verify([value], with: &memory).causes == [.passed])
        let other = Self.lab.snapshot(of: try Self.lab.signer("swapped"), generation: 2)
        #expect(other.verify([value], with: &memory).causes == [.badSignature])
        let revoked = try Self.lab.signer("spc", standings: [.revoked])
        #expect(Self.lab.snapshot(of: revoked, generation: 3).verify([value], with: &memory).causes == [.revoked])
    }

    @Test func `a good signature in memory does not spare the numbers`() throws {
        let value = try Self.lab.signed(TrustLab.claims())
        let snapshot = try Self.lab.snapshot(["spc"])
        var memory = TrustMemory()
        #expect(snapshot.verify([value], with: &memory).causes == [.passed])
        let other = SignedCall(caller: "12025551000", called: "12025558888")
        #expect(snapshot.verify([value], of: other, with: &memory).causes == [.calledMismatch])
        #expect(snapshot.verify([value], at: Self.now + 120, with: &memory).causes == [.stale])
    }

    @Test func `a token under another Call-ID is marked or does not count`() throws {
        let value = try Self.lab.signed(TrustLab.claims())
        let snapshot = try Self.lab.snapshot(["spc"])
        var policy = TrustLab.policy("us")
        var memory = TrustMemory()
        var call = SignedCall.usual
        call.callID = 1
        #expect(snapshot.verify([value], of: call, under: policy, with: &memory).marks.isEmpty)
        #expect(snapshot.verify([value], of: call, under: policy, with: &memory).marks.isEmpty)
        call.callID = 2
        let again = snapshot.verify([value], of: call, under: policy, with: &memory)
        #expect(again.marks.all == [.seenBefore] && again.number == .passed(.a))
        policy.replay = .asUnsigned
        let strict = snapshot.verify([value], of: call, under: policy, with: &memory)
        #expect(strict.causes == [.seenBefore] && strict.number == .none)
        // A new snapshot does not hide that the token came twice.
        let next = Self.lab.snapshot(of: try Self.lab.signer("spc"), generation: 2)
        #expect(next.verify([value], of: call, under: policy, with: &memory).causes == [.seenBefore])
        call.callID = 1
        #expect(snapshot.verify([value], of: call, under: policy, with: &memory).number == .passed(.a))
    }

    @Test func `the best attestation of several good tokens counts`() throws {
        // RFC 8224 §6.2.1: one valid header field is enough.
        let values = try ["C", "A", "B"].map {
            try Self.lab.signed(TrustLab.claims().replacing(#""attest":"A""#, with: "\"attest\":\"\($0)\""))
        }
        let snapshot = try Self.lab.snapshot(["spc"])
        #expect(snapshot.verify(values).number == .passed(.a))
        #expect(snapshot.verify([values[0], values[2]]).number == .passed(.b))
        #expect(snapshot.verify(["a.b.c;info=<https://a.b>", values[0]]).number == .passed(.c))
    }

    @Test func `a call without signature has its permission`() throws {
        let snapshot = try Self.lab.snapshot([])
        var call = SignedCall.usual
        call.hasBypass = true
        #expect(snapshot.verify([], of: call, under: TrustLab.policy("us")).causes == [.unsigned])
        #expect(snapshot.verify([], of: call, under: TrustLab.policy("fr")).causes == [.bypass])
        var off = TrustLab.policy("us")
        off.regimes[0].verify = false
        #expect(snapshot.verify(["x"], under: off).causes.isEmpty)
        off.regimes = []
        #expect(snapshot.verify(["x"], under: off).number == .none)
    }
}
