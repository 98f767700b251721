// SPDX-License-Identifier: Apache-2.0

/// A call that was diverted: a first token, and one `div` for each diversion (RFC 8946 §4.2).
struct DiversionChain {
    typealias Item = Examination.Item

    /// The `div` and `div-o` tokens, in the order of the header fields.
    let diversions: [Item]
    /// Tokens of the first call: those that are not for the called number.
    let firsts: [Item]

    /// The chain of the tokens of a call; nil without a diversion.
    init?(_ items: [Item], called: CanonicalNumber?) {
        diversions = items.filter { $0.passport.claims.div != nil }
        guard !diversions.isEmpty else { return nil }
        firsts = items.filter { item in
            item.passport.claims.div == nil && called.map { !item.passport.claims.isDestined(to: $0) } ?? true
        }
    }

    /// True if all tokens of the chain have the same caller.
    var hasOneCaller: Bool {
        (diversions + linkedFirsts).allSatisfy { $0.passport.claims.orig == diversions[0].passport.claims.orig }
    }

    /// First tokens that a diversion continues.
    var linkedFirsts: [Item] {
        firsts.filter { first in
            diversions.contains { $0.passport.claims.div.map(first.passport.claims.isDestined) ?? false }
        }
    }

    /// The count of diversions from a first token to each `div`; nil unless all of them link.
    ///
    /// A `div` links to each token whose `dest` has its `div` (RFC 8946 §4.1).
    var depths: [Int]? {
        var depths = [Int?](repeating: nil, count: diversions.count)
        var reached = linkedFirsts.filter { $0.passport.type != .rcd }.map(\.passport.claims)
        for depth in 1...diversions.count {
            var further: [PassportClaims] = []
            for (index, item) in diversions.enumerated() where depths[index] == nil {
                guard let div = item.passport.claims.div, reached.contains(where: { $0.isDestined(to: div) })
                else { continue }
                depths[index] = depth
                further.append(item.passport.claims)
            }
            reached = further
        }
        let known = depths.compactMap(\.self)
        return known.count == diversions.count ? known : nil
    }
}

extension Examination {
    /// Judges the chain of a diverted call, if there is one. All its header fields get the cause of the chain.
    mutating func judgeChain(_ memory: inout TrustMemory) {
        guard let chain = DiversionChain(items, called: call.called) else { return }
        do throws(Finding) {
            let depths = try checkLinks(of: chain)
            let binding = TrustVerdict.Binding.chain(diversions: reach(of: chain, depths))
            try checkAges(of: chain, memory)
            let signers = try credentials(of: chain)
            let firsts = try proveFirsts(of: chain, binding, &memory)
            try checkSignatures(of: chain, by: signers, &memory)
            for item in chain.diversions { findings[item.field] = Finding(.passed) }
            for (token, field) in firsts { accept(token, field) }
            judgeRichTokens(of: chain, binding, &memory)
            for (index, item) in chain.diversions.enumerated().sorted(by: { depths[$0.offset] < depths[$1.offset] }) {
                guard case .number(let from?) = item.passport.claims.div else { continue }
                diversions.append(TrustVerdict.Diversion(from: from, signer: signers[index]))
            }
        } catch {
            for item in chain.diversions + chain.firsts { findings[item.field] = error }
        }
    }

    /// The depth of each diversion, all of which link, from a first token up to the called number.
    private mutating func checkLinks(of chain: DiversionChain) throws(Finding) -> [Int] {
        guard chain.diversions.count <= regime.diversions else { throw Finding(.tooMany) }
        guard chain.hasOneCaller, !hasBrokenMember else { throw Finding(.chainBroken) }
        try checkCaller(chain.diversions[0].passport.claims)
        guard let depths = chain.depths else { throw Finding(.chainIncomplete) }
        guard let called = call.called else { throw Finding(.notANumber) }
        guard chain.diversions.contains(where: { $0.passport.claims.isDestined(to: called) }) else {
            claimed = claimed ?? chain.diversions.last.map { TrustVerdict.Claimed($0.passport.claims) }
            throw Finding(.calledMismatch)
        }
        return depths
    }

    /// The count of diversions up to the called number.
    private func reach(of chain: DiversionChain, _ depths: [Int]) -> Int {
        zip(chain.diversions, depths).filter { item, _ in
            call.called.map { item.passport.claims.isDestined(to: $0) } ?? false
        }.map(\.1).min() ?? 0
    }

    /// The outermost token is as fresh as any other one. Inner tokens may be older (RFC 8946 §4.2).
    private func checkAges(of chain: DiversionChain, _ memory: TrustMemory) throws(Finding) {
        for item in chain.diversions {
            let claims = item.passport.claims
            let isOutermost = call.called.map { claims.isDestined(to: $0) } ?? false
            try checkAge(of: claims, isOutermost ? regime.maxAge : regime.innerAge, memory)
            if isOutermost { try checkDate(claims) }
        }
    }

    private func checkAge(of claims: PassportClaims, _ oldest: Int64, _ memory: TrustMemory) throws(Finding) {
        guard let late = freshness(of: claims, oldest: oldest) else { return }
        throw Finding(memory.clock.isSuspect(at: now) ? .clockSuspect : late)
    }

    /// The signers of the diversions, each with authority for the number that it diverted.
    private mutating func credentials(of chain: DiversionChain) throws(Finding) -> [Signer] {
        var signers: [Signer] = []
        for item in chain.diversions {
            do throws(Finding) { signers.append(try credential(of: item.passport)) } catch { throw error.ofChain }
        }
        return signers
    }

    /// The first tokens that are proven. Throws the finding of the first one if there is none.
    private mutating func proveFirsts(
        of chain: DiversionChain, _ binding: TrustVerdict.Binding, _ memory: inout TrustMemory
    ) throws(Finding) -> [(ProvenToken, Int)] {
        var tokens: [(ProvenToken, Int)] = []
        var failure: Finding?
        for item in chain.linkedFirsts where item.passport.type != .rcd {
            do throws(Finding) {
                try checkAge(of: item.passport.claims, regime.innerAge, memory)
                do throws(Finding) {
                    tokens.append((try prove(item.passport, binding, &memory), item.field))
                } catch {
                    throw error.ofChain
                }
            } catch {
                failure = failure ?? error
                findings[item.field] = error
            }
        }
        if tokens.isEmpty { throw failure ?? Finding(.chainIncomplete) }
        return tokens
    }

    private mutating func checkSignatures(
        of chain: DiversionChain, by signers: [Signer], _ memory: inout TrustMemory
    ) throws(Finding) {
        for (item, signer) in zip(chain.diversions, signers) {
            do throws(Finding) {
                _ = try checkSignature(of: item.passport, by: signer, &memory)
            } catch {
                throw error.ofChain
            }
        }
    }

    /// Judges the names that belong to the first call.
    private mutating func judgeRichTokens(
        of chain: DiversionChain, _ binding: TrustVerdict.Binding, _ memory: inout TrustMemory
    ) {
        for item in chain.linkedFirsts where item.passport.type == .rcd {
            do throws(Finding) {
                try checkAge(of: item.passport.claims, regime.innerAge, memory)
                let token = try prove(item.passport, binding, &memory)
                try admitRichToken(token)
                accept(token, item.field)
            } catch {
                findings[item.field] = error
            }
        }
    }
}

extension Finding {
    /// The finding of a chain with this member: evidence against a member breaks the chain.
    fileprivate var ofChain: Finding { effect == .fails ? Finding(.chainBroken) : self }
}
