// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The checks of one token, each in a function that throws the finding.
extension Examination {
    /// `stale`, `future` or nil (RFC 8224 §6.2 step 4).
    ///
    /// A token's own bounds have the leeway of `maxAhead` (RFC 7519 §4.1.4).
    func freshness(of claims: PassportClaims, oldest: Int64) -> TrustCause? {
        let age = now.saturated(minus: claims.issued)
        if age > oldest { return .stale }
        if age < -regime.maxAhead { return .future }
        if let ends = claims.ends, now.saturated(minus: ends) >= regime.maxAhead { return .stale }
        if let begins = claims.begins, begins.saturated(minus: now) > regime.maxAhead { return .future }
        return nil
    }

    /// Compares Date with the time of the token, where the regime wants it.
    func checkDate(_ claims: PassportClaims) throws(Finding) {
        guard regime.checksDate, let date = call.date else { return }
        let difference = date.saturated(minus: claims.issued)
        guard (-60...60).contains(difference) else { throw Finding(.date) }
    }

    /// Compares the caller with `orig` (RFC 8224 §6.2 step 2).
    mutating func checkCaller(_ claims: PassportClaims) throws(Finding) {
        guard case .number(let number) = claims.orig, call.caller != nil || call.otherCaller != nil
        else { throw Finding(.notANumber) }
        guard let number, number == call.caller || number == call.otherCaller else {
            claimed = claimed ?? TrustVerdict.Claimed(claims)
            throw Finding(.callerMismatch)
        }
    }

    /// Looks for the called number in `dest` (RFC 8224 §6.2 step 3).
    mutating func checkCalled(_ claims: PassportClaims) throws(Finding) {
        if let called = call.called, claims.isDestined(to: called) { return }
        if let to = call.to, claims.isDestined(to: to) {
            guard regime.called == .requestURIOrTo || policy.retargeted == .accept else { throw Finding(.toOnly) }
            return
        }
        guard call.called != nil, claims.hasNumbers else { throw Finding(.notANumber) }
        claimed = claimed ?? TrustVerdict.Claimed(claims)
        throw Finding(.calledMismatch)
    }

    /// The signer of a token with a good chain, in force, with authority, and within its constraints.
    mutating func credential(of passport: Passport) throws(Finding) -> Signer {
        guard !passport.hasBrokenChain else { throw Finding(.certificateMalformed) }
        guard let signer = known(passport), let standing = standing(of: signer) else {
            ask(passport.chain.map { .check(chain: $0) } ?? passport.address.map { .fetch(address: $0) })
            throw Finding(.signerNotYetKnown)
        }
        do throws(Finding) {
            guard standing.cause == .passed else {
                ask(successor(of: signer, standing.cause, for: passport))
                throw standing
            }
            guard signer.validity.lowerBound <= passport.claims.issued, now <= signer.validity.upperBound else {
                ask(renewal(of: signer, for: passport))
                throw Finding(.certificateExpired)
            }
            guard case .number(let number?) = passport.claims.div ?? passport.claims.orig,
                signer.authority.covers(number)
            else { throw Finding(.noAuthority) }
            guard signer.constraints.allSatisfy({ passport.claims.keep($0) }) else { throw Finding(.constraint) }
            guard !signer.authority.hasCode(in: policy.denied) else { throw Finding(.denied) }
        } catch {
            blame(signer)
            throw error
        }
        return signer
    }

    private func known(_ passport: Passport) -> Signer? {
        guard policy.regimeSet == snapshot.regimeSet else { return nil }
        if let chain = passport.chain { return snapshot.signer(of: ChainDigest(of: chain)) }
        return passport.address.flatMap { snapshot.signer(at: $0) }
    }

    /// The state of a signer under the first of the trunk's regimes that its chain reaches; nil for a state never decided.
    private func standing(of signer: Signer) -> Finding? {
        var isJudged = false
        // A regime without anchors judges nobody, and might have trusted the signer.
        var hasGap = false
        for regime in policy.regimes where signer.standings.indices.contains(regime.position) {
            let standing = signer.standings[regime.position]
            if standing == .signerNotYetKnown {
                hasGap = true
                continue
            }
            if standing != .untrustedSigner { return Finding(standing) }
            isJudged = true
        }
        if hasGap { return Finding(.signerNotYetKnown) }
        guard isJudged else { return nil }
        // An anchor of another country is no evidence against the call.
        let isForeign = signer.standings.contains { $0 != .untrustedSigner && $0 != .signerNotYetKnown }
        return isForeign ? Finding(harmless: .untrustedSigner) : Finding(.untrustedSigner)
    }

    private mutating func ask(_ request: SignerRequest?) {
        if let request, !requests.contains(request) { requests.append(request) }
    }

    /// Checks the ES256 signature over the bytes as received. True for a token that came with another Call-ID before.
    mutating func checkSignature(
        of passport: Passport, by signer: Signer, _ memory: inout TrustMemory
    ) throws(Finding) -> Bool {
        var hash = SHA256()
        hash.update(data: passport.token[..<passport.signedCount])
        let signed = hash.finalize()
        hash.update(data: passport.signature)
        let token = ChainDigest(hash.finalize())
        let isGood: Bool
        let isReplayed: Bool
        if let hit = memory.signatures.hit(token, generation: snapshot.generation, callID: call.callID) {
            (isGood, isReplayed) = (hit.isGood, hit.isReplayed)
        } else {
            guard signaturesLeft > 0 else { throw Finding(.tooMany) }
            guard let key = signer.key else { throw Finding(.signerNotYetKnown) }
            signaturesLeft -= 1
            isGood = key.signed(signed, passport.signature)
            isReplayed = memory.signatures.keep(
                token, generation: snapshot.generation, callID: call.callID, isGood: isGood)
        }
        if isGood { return isReplayed }
        blame(signer)
        guard let renewal = renewal(of: signer, for: passport) else { throw Finding(.badSignature) }
        ask(renewal)
        throw Finding(.signerChanged)
    }

    /// The request for another certificate of an address whose stored one does not count; nil if none is to be expected.
    private func successor(of signer: Signer, _ cause: TrustCause, for passport: Passport) -> SignerRequest? {
        // Without a key no certificate of the address counts, and a later one may.
        if policy.fetches, signer.key == nil, passport.chain == nil {
            return passport.address.map { .fetch(address: $0) }
        }
        // Only certificates that count are refreshed without a call. A later decision alone mends these two causes.
        return cause == .signerNotYetKnown || cause == .crlStale ? nil : renewal(of: signer, for: passport)
    }

    /// The request for the present certificate of a known signer; nil if it was made already, or if nothing is fetched.
    private func renewal(of signer: Signer, for passport: Passport) -> SignerRequest? {
        guard policy.fetches, !signer.isRenewed, passport.chain == nil else { return nil }
        return passport.address.map { .renew(address: $0) }
    }
}

extension TrustVerdict.Claimed {
    /// The numbers of a token.
    init(_ claims: PassportClaims) {
        if case .number(let number) = claims.orig { caller = number } else { caller = nil }
        called = claims.firstCalled
    }
}
