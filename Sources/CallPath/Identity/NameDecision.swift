// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Trust

/// The decision on an INVITE after the names of directory and signature were weighed.
struct NameDecision {
    var decision: BrandingDecision
    /// The name, logo and reason to write; nil if they are those of the index.
    var card: CallerCard?
    /// The place that the name comes from.
    var origin = NameOrigin.none
    /// Whether the bytes of the signed picture were compared with a stored logo, in shadow too.
    var hasVerifiedLogo = false
    /// Whether decision or name differ by the verdict, or would in shadow.
    var isChanged = false

    /// The decision of the directory alone.
    init(_ found: BrandingDecision) {
        decision = found
        if case .show = found { origin = .directory }
    }
}

extension SignedVerdict {
    /// Weighs the signed values of a call against the brand that `decide` found.
    ///
    /// A signed name passes every gate of `decide` first: it is shown for a call that gets a brand, or would if the directory
    /// had one. It belongs to the number that was signed. Logo and reason of directory and signature are mixed only if both
    /// have the same name, or the signature has none: nobody gets the logo of another.
    ///
    /// - Parameter replacesName: whether the name of the call replaces the one that the carrier sent.
    func named(
        _ found: BrandingDecision, in snapshot: BrandingSnapshot, on trunk: TrunkPeer, replacesName: Bool,
        under rules: TrunkSignatures, logo form: [UInt8]?
    ) -> NameDecision {
        let entry: BrandEntry?
        switch found {
        case .show(let brand): entry = brand
        case .passThrough(.noMatch) where snapshot.gates.closed == nil: entry = nil
        case .passThrough: return NameDecision(found)
        }
        let source = rules.nameSource
        let signed = isForShownNumber ? SignedValues(verdict) : SignedValues()
        guard !signed.isEmpty || entry != nil && source.needsSignature else { return NameDecision(found) }
        return named(
            entry, signed, source, on: trunk, replacesName: replacesName, in: snapshot.index, logo: form)
    }

    private func named(
        _ entry: BrandEntry?, _ signed: SignedValues, _ source: TrustRegime.Names, on trunk: TrunkPeer,
        replacesName: Bool, in index: BrandIndex, logo form: [UInt8]?
    ) -> NameDecision {
        let hasName = signed.name.map { DisplayName($0, profile: index.profile) != nil } ?? false
        let agree = hasName && entry.map { signed.isNamed(as: $0, in: index) } ?? false
        let origin = source.origin(hasDirectory: entry != nil, hasSignature: hasName, agree: agree)
        let takesSignedName = origin == .signature || origin == .both && source.prefersSignature
        let isOfBrand = origin == .directory || origin == .both
        let mayMix = agree || !signed.hasName
        // Anybody can have written the name that stays on an untrusted trunk. Nothing signed goes beside it.
        let isBacked = trunk.isTrusted || replacesName && (hasName || isOfBrand)
        let rules = CallerCard.Rules(
            takesSignedName: takesSignedName,
            takesDirectory: source.takesDirectory && isOfBrand,
            takesSigned: source.takesSignature && (mayMix || takesSignedName), prefersSigned: source.prefersSignature)
        var named = NameDecision(entry.map { BrandingDecision.show($0) } ?? .passThrough(.noMatch))
        named.origin = origin
        if entry != nil, !isOfBrand { named.decision = .passThrough(.nameSource) }
        // A reason may be signed without a name.
        if origin != .none || source != .mustAgree {
            let signed = isBacked ? signed : SignedValues(name: signed.name, hasName: signed.hasName)
            named.card = CallerCard(isOfBrand ? entry : nil, in: index, signed, rules, logo: form)
        }
        if !isOfBrand, named.card != nil { named.decision = .passThrough(.signedName) }
        return named
    }
}

extension SignedValues {
    /// Whether the whole signed name is the brand's name, as a reader compares them.
    ///
    /// A name is cut for displays. The cut of a longer name may be that of another company.
    fileprivate func isNamed(as brand: BrandEntry, in index: BrandIndex) -> Bool {
        guard let name else { return false }
        return NameComparison.agree(index.text(.name, brand), DisplayName.whole(name, profile: index.profile))
    }

    /// The verified values of a verdict.
    init(_ verdict: TrustVerdict) {
        self.init()
        switch verdict.name {
        case .absent: break
        case .verified(let text): (name, hasName) = (text, true)
        case .unverified: hasName = true
        }
        if case .verified(let text) = verdict.reason { reason = text }
        if case .named(let address, let digest) = verdict.icon, let hash = verdict.icon.pictureHash {
            icon = Icon(address: address, digest: digest, hash: hash)
        }
    }
}
