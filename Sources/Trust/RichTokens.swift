// SPDX-License-Identifier: Apache-2.0

/// The names of proven tokens (RFC 9795 §9 and §10).
extension Examination {
    /// Throws `rcdAlone` for a token of a third party, unless a good token of the first party is beside it and its
    /// signer may speak for others.
    mutating func admitRichToken(_ token: ProvenToken) throws(Finding) {
        let firsts = proven.filter { $0.passport.type != .rcd && $0.passport.claims.orig == token.passport.claims.orig }
        let isOfIssuer = token.passport.claims.payload.member("iss") != nil
        if !isOfIssuer, firsts.isEmpty || firsts.contains(where: { $0.signer.isOneProvider(with: token.signer) }) {
            return
        }
        let mayJoin = token.signer.authority.codes.contains(where: regime.rcd.thirdParty.contains)
        guard !firsts.isEmpty, mayJoin else {
            marks.insert(.rcdAlone)
            throw Finding(.rcdAlone)
        }
    }

    /// Writes name, reason and picture of the first proven token that has some. A verified name goes before others.
    ///
    /// They belong to the caller's number of the verdict: where either of two numbers may be signed, a token for the other one
    /// does not count.
    mutating func takeRichCallData(_ verdict: inout TrustVerdict) {
        var chosen: RichCallData?
        for token in proven
        where (token.passport.type == .shaken || token.passport.type == .rcd) && isOfCaller(token, verdict) {
            guard let data = richCallData(of: token) else { continue }
            for mark in data.marks.all { marks.insert(mark) }
            if chosen == nil || (data.hasVerifiedName && chosen?.hasVerifiedName == false) { chosen = data }
        }
        guard let chosen else { return }
        verdict.name = chosen.name
        verdict.reason = chosen.reason
        verdict.icon = chosen.icon
    }

    private func isOfCaller(_ token: ProvenToken, _ verdict: TrustVerdict) -> Bool {
        guard case .number(let caller) = token.passport.claims.orig else { return verdict.caller == nil }
        return caller == verdict.caller
    }

    private func richCallData(of token: ProvenToken) -> RichCallData? {
        guard let data = RichCallData(token.passport.claims.payload, rules: regime.rcd) else {
            return token.passport.type == .rcd ? RichCallData(without: .rcdMalformed) : nil
        }
        guard data.hasValues else { return data }
        return attestation(of: token).map { $0 >= regime.rcd.needs } ?? false ? data : data.weakened()
    }

    /// The attestation of a token, or of the first party's token beside it.
    private func attestation(of token: ProvenToken) -> Attestation? {
        if token.passport.type != .rcd || token.attestation != nil { return token.attestation }
        return proven.filter { $0.passport.type != .rcd && $0.passport.claims.orig == token.passport.claims.orig }
            .compactMap(\.attestation).max()
    }
}

extension Signer {
    /// True if both certificates have the same provider codes and numbers.
    fileprivate func isOneProvider(with other: Signer) -> Bool { authority == other.authority }
}
