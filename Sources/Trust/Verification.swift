// SPDX-License-Identifier: Apache-2.0

/// Memory of one worker: results of signatures, and the guard of the clock. For one thread.
public struct TrustMemory: Sendable {
    var signatures = SignatureCache()
    var clock = ClockGuard()

    /// Empty memory. It allocates nothing before the first signed call.
    public init() {}

    /// Seconds of an offset beyond which the clock of this machine is suspect.
    public static let clockTolerance = ClockGuard.tolerance

    /// Seconds by which the tokens of most signers are ahead of this machine's clock; nil with fewer than eight signers.
    public func clockOffset(at now: Int64) -> Int64? { clock.offset(at: now) }
}

extension TrustSnapshot {
    /// The most header fields of a call that are read.
    public static let mostFields = 8
    /// The most signatures of a call that are checked: those of a chain of five diversions.
    public static let mostSignatures = 6

    /// Verifies the Identity header fields of one call (RFC 8224 §6.2).
    ///
    /// The ranges are the values of the header fields in `message`, in order. `now` is Unix time in seconds. The call reads
    /// no clock and waits for nothing. Checks come in the order of their cost: form, claims, freshness, numbers, signer,
    /// authority, constraints, signature, rich call data.
    public func verify(
        _ message: Span<UInt8>, _ fields: [Range<Int>], of call: SignedCall, under policy: TrunkTrustPolicy,
        at now: Int64, with memory: inout TrustMemory
    ) -> TrustVerdict {
        guard policy.regimes.first?.verify == true else { return TrustVerdict() }
        var examination = Examination(snapshot: self, policy: policy, call: call, now: now)
        for field in fields { examination.read(message, field) }
        return examination.verdict(&memory)
    }
}

/// The cause of one header field with its effect, which the trunk's policy may have softened.
struct Finding: Error, Equatable {
    var cause: TrustCause
    var effect: TrustEffect

    /// A cause with its usual effect.
    init(_ cause: TrustCause) {
        self.cause = cause
        effect = cause.effect
    }

    /// A cause without effect on the number.
    init(harmless cause: TrustCause) {
        self.cause = cause
        effect = .none
    }
}

/// A token that passed each check.
struct ProvenToken {
    let passport: Passport
    let signer: Signer
    let attestation: Attestation?
    let binding: TrustVerdict.Binding
}

/// The verification of one call, from the header fields to the verdict.
struct Examination {
    /// One token, and the position of the header field that has it.
    struct Item {
        let passport: Passport
        let field: Int
    }

    let snapshot: TrustSnapshot
    let policy: TrunkTrustPolicy
    let call: SignedCall
    let now: Int64
    /// The cause of each header field that was read; nil until its token is judged.
    var findings: [Finding?] = []
    /// The token of each of them in the message.
    private var tokens: [Range<Int>] = []
    var items: [Item] = []
    var proven: [ProvenToken] = []
    var diversions: [TrustVerdict.Diversion] = []
    var claimed: TrustVerdict.Claimed?
    var marks = TrustCauses()
    var requests: [SignerRequest] = []
    var signaturesLeft = TrustSnapshot.mostSignatures
    /// A member of a chain that could not be read.
    var hasBrokenMember = false
    private var unread = 0
    private var failedSigner: Signer?

    /// The regime with the rules of header fields and numbers.
    var regime: TrustRegime { policy.regimes[0] }

    /// The verification of a call under a policy with at least one regime.
    init(snapshot: TrustSnapshot, policy: TrunkTrustPolicy, call: SignedCall, now: Int64) {
        self.snapshot = snapshot
        self.policy = policy
        self.call = call
        self.now = now
    }

    // MARK: Reading

    /// Reads the tokens of one header field. Nothing is proven here.
    mutating func read(_ message: Span<UInt8>, _ field: Range<Int>) {
        var values = IdentityFieldReader(message, field)
        let passports = PassportReader(policy: policy, call: call)
        while let value = values.next() {
            guard findings.count < TrustSnapshot.mostFields else {
                unread += 1
                continue
            }
            tokens.append(field.lowerBound + value.token.lowerBound..<field.lowerBound + value.token.upperBound)
            do {
                let passport = try passports.read(value, of: values.bytes)
                items.append(Item(passport: passport, field: findings.count))
                findings.append(nil)
                readNested(passport, passports)
            } catch {
                findings.append(Finding(error))
            }
        }
    }

    /// Reads the tokens inside a `div-o` (RFC 8946 §5), which belong to the same header field.
    private mutating func readNested(_ outer: Passport, _ passports: PassportReader) {
        var passport = outer
        var levels = 0
        while let token = passport.claims.nested, levels <= regime.diversions {
            levels += 1
            do {
                passport = try passports.read(nested: Array(token.utf8))
                items.append(Item(passport: passport, field: findings.count - 1))
            } catch {
                // A chain that begins with an unknown type is ignored (RFC 8946 §4.2).
                if error != .unsupportedPPT { hasBrokenMember = true }
                return
            }
        }
    }

    // MARK: Judging

    /// The verdict on all header fields that were read.
    mutating func verdict(_ memory: inout TrustMemory) -> TrustVerdict {
        var verdict = TrustVerdict()
        verdict.unread = unread
        guard !findings.isEmpty else {
            verdict.causes = [call.hasBypass && regime.bypass == .pass ? .bypass : .unsigned]
            return verdict
        }
        judgeChain(&memory)
        for item in items where findings[item.field] == nil && item.passport.type != .rcd { judge(item, &memory) }
        for item in items where findings[item.field] == nil { judge(item, &memory) }
        takeNumber(&verdict)
        takeRichCallData(&verdict)
        verdict.causes = findings.map { $0?.cause ?? .malformed }
        verdict.tokens = tokens
        verdict.diversions = diversions
        verdict.claimed = claimed
        verdict.marks = marks
        verdict.requests = requests
        return verdict
    }

    /// Judges a token that no chain has.
    private mutating func judge(_ item: Item, _ memory: inout TrustMemory) {
        do throws(Finding) {
            let token = try proveAlone(item.passport, &memory)
            if item.passport.type == .rcd { try admitRichToken(token) }
            accept(token, item.field)
        } catch {
            findings[item.field] = error
        }
    }

    /// Keeps a token that passed.
    mutating func accept(_ token: ProvenToken, _ field: Int) {
        if token.passport.type == .shaken, !token.passport.claims.hasUniversalOrigid { marks.insert(.origidForm) }
        proven.append(token)
        findings[field] = Finding(.passed)
    }

    private mutating func proveAlone(_ passport: Passport, _ memory: inout TrustMemory) throws(Finding) -> ProvenToken {
        if let late = freshness(of: passport.claims, oldest: regime.maxAge) {
            throw probe(passport, late, &memory)
        }
        try checkDate(passport.claims)
        try checkCaller(passport.claims)
        try checkCalled(passport.claims)
        let token = try prove(passport, .calledNumber, &memory)
        memory.clock.take(passport.claims.issued, of: token.signer.row, at: now)
        return token
    }

    /// Proves a token at the present time, with its numbers compared already.
    mutating func prove(
        _ passport: Passport, _ binding: TrustVerdict.Binding, _ memory: inout TrustMemory
    ) throws(Finding) -> ProvenToken {
        let signer = try credential(of: passport)
        let isReplayed = try checkSignature(of: passport, by: signer, &memory)
        if isReplayed {
            marks.insert(.seenBefore)
            if policy.replay == .asUnsigned, binding == .calledNumber { throw Finding(.seenBefore) }
        }
        var attestation = passport.claims.attestation
        // A certificate that names the number itself is full attestation.
        if attestation == nil, case .number(let caller?) = passport.claims.orig, signer.authority.names(caller) {
            attestation = .a
        }
        return ProvenToken(passport: passport, signer: signer, attestation: attestation, binding: binding)
    }

    /// Verifies a token beyond its age for the guard of the clock alone, a few each minute.
    ///
    /// The result is the lateness, or that the clock is suspect.
    private mutating func probe(_ passport: Passport, _ late: TrustCause, _ memory: inout TrustMemory) -> Finding {
        if memory.clock.mayProbe(at: now) {
            let asked = requests
            do throws(Finding) {
                try checkCaller(passport.claims)
                try checkCalled(passport.claims)
                let signer = try credential(of: passport)
                _ = try checkSignature(of: passport, by: signer, &memory)
                memory.clock.take(passport.claims.issued, of: signer.row, at: now)
            } catch {
                // The token is late whatever else is wrong with it.
            }
            // Nothing is fetched for a token that is not fresh.
            requests = asked
        }
        return Finding(memory.clock.isSuspect(at: now) ? .clockSuspect : late)
    }

    // MARK: Result

    private func takeNumber(_ verdict: inout TrustVerdict) {
        let best = proven.max { ($0.attestation?.rawValue ?? 9) > ($1.attestation?.rawValue ?? 9) }
        if let best {
            verdict.number = .passed(best.attestation)
            verdict.binding = best.binding
            verdict.signer = best.signer
            verdict.origid = best.passport.claims.origid
            if case .number(let caller) = best.passport.claims.orig { verdict.caller = caller }
        } else if findings.contains(where: { $0.map(isEvidence) ?? false }) {
            verdict.number = .failed
            verdict.signer = failedSigner
        }
    }

    private func isEvidence(_ finding: Finding) -> Bool {
        switch finding.effect {
        case .fails: true
        case .failsAsMalformed: policy.malformed == .failed
        case .passes, .none: false
        }
    }

    /// Keeps the signer of a token that failed, for the operator. An address without a certificate is none.
    mutating func blame(_ signer: Signer) {
        if signer.key != nil || !signer.subject.isEmpty { failedSigner = failedSigner ?? signer }
    }
}
