// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore

// The INVITE of a call from a trunk as it leaves: edits of the received bytes, and the brand if the decision shows one.

extension ProxyCore {
    /// Builds the INVITE to send, and removes decoration until it fits the target's datagrams.
    ///
    /// In shadow the INVITE is built as it would be, and the one that is sent has nothing of the brand.
    func decorate(_ context: borrowing InboundContext, leadingTo hop: NextHop?) -> DecoratedInvite {
        let decorated = decorateAsDecided(context, hop)
        guard context.isInShadow, decorated.isDecorated else { return decorated }
        var plain = forwardPlain(context, for: .shadow, hop)
        (plain.entry, plain.card, plain.decorate) = (decorated.entry, decorated.card, decorated.decorate)
        plain.hasCardLink = decorated.hasCardLink
        plain.wouldBeNamed = decorated.dialog.isNamed
        return plain
    }

    private func decorateAsDecided(_ context: borrowing InboundContext, _ hop: NextHop?) -> DecoratedInvite {
        switch context.decision {
        case .show(let entry):
            return decorate(context, ShownBrand(entry: entry, index: context.index, card: context.card), hop)
        case .passThrough(let reason):
            guard let card = context.card else { return forwardPlain(context, for: reason, hop) }
            return decorate(context, ShownBrand(entry: nil, index: context.index, card: card), hop)
        }
    }

    /// Builds the INVITE without a brand.
    private func forwardPlain(
        _ context: borrowing InboundContext, for reason: PassThroughReason, _ hop: NextHop?
    ) -> DecoratedInvite {
        let dialog = DialogFacts(trunk: context.trunk.mark, isInbound: true, isBranded: false)
        let plan = DecoratedInvite(dialog: dialog, reason: reason)
        let decorated = write(plan, context, leadingTo: hop)
        let isTooLarge = marksVerification(context) && decorated.bytes.count > context.largest
        return isTooLarge ? write(plan, context, leadingTo: hop, hasVerstat: false) : decorated
    }

    /// Builds an INVITE with a brand, or with signed values alone.
    private func decorate(
        _ context: borrowing InboundContext, _ brand: ShownBrand, _ hop: NextHop?
    ) -> DecoratedInvite {
        let isNamed =
            brand.hasName
            && Decoration.replacesCallerName(in: context.invite, of: context.identity.number, from: context.trunk)
        // A later request of the dialog gets the directory's name for the caller's number. It has no signed name.
        let isOfIndex = brand.card?.isOfIndex ?? true
        let dialog = DialogFacts(
            trunk: context.trunk.mark, isInbound: true, isBranded: brand.entry != nil, isNamed: isNamed,
            caller: isOfIndex ? context.identity.number?.digits ?? 0 : 0, isAsserted: context.identity.isAsserted,
            customer: context.called.customer?.mark ?? 0)
        // Where the carrier's name stays and the brand has neither logo nor reason, nothing is shown.
        var reason = PassThroughReason.policy
        for decorate in BrandingLevel.allCases where decorate != .nothing {
            let hasMore = shows(decorate, of: brand)
            guard isNamed || hasMore else { continue }
            var plan = DecoratedInvite(
                dialog: dialog, entry: brand.entry, card: brand.card,
                reason: brand.entry == nil ? .signedName : nil, decorate: decorate)
            if settings.writesCardLink, decorate == .logoReasonAndName, hasCardLink(brand, context.snapshot) {
                plan.hasCardLink = true
                let linked = write(plan, context, leadingTo: hop)
                if linked.dialog.isNamed || hasMore, linked.bytes.count <= context.largest { return linked }
                plan.hasCardLink = false
            }
            let decorated = write(plan, context, leadingTo: hop)
            guard decorated.dialog.isNamed || hasMore else { continue }
            if decorated.bytes.count <= context.largest { return decorated }
            if decorate == .name, marksVerification(context) {
                // The name counts more than the mark.
                let unmarked = write(plan, context, leadingTo: hop, hasVerstat: false)
                if unmarked.bytes.count <= context.largest { return unmarked }
            }
            reason = .trimmed
        }
        return forwardPlain(context, for: reason, hop)
    }

    /// Whether the INVITE may have a mark of its verification, which counts less than the name.
    private func marksVerification(_ context: borrowing InboundContext) -> Bool {
        settings.verstat != .off || context.called.pbx.takesVerdict
    }

    /// Whether a level writes anything beside the name.
    private func shows(_ decorate: BrandingLevel, of brand: ShownBrand) -> Bool {
        guard settings.writesCallInfo, let part = Decoration.part(of: decorate) else { return false }
        if let card = brand.card { return card.hasCallInfo(withLogo: part == .callInfo, isNamed: false) }
        return brand.entry.map { brand.index.length(of: part, $0) > 0 } ?? false
    }

    /// Whether the directory's brand is shown and has a public card: nobody gets the card of another.
    private func hasCardLink(_ brand: ShownBrand, _ snapshot: BrandingSnapshot) -> Bool {
        guard snapshot.cards != nil, let entry = brand.entry else { return false }
        return brand.index.hasCard(entry)
    }

    /// Applies every edit of one INVITE to the received bytes.
    private func write(
        _ plan: DecoratedInvite, _ context: borrowing InboundContext, leadingTo hop: NextHop?, hasVerstat: Bool = true
    ) -> DecoratedInvite {
        let (invite, trunk) = (context.invite, context.trunk)
        var decorated = plan
        withSplices { splices in
            // Without Route nothing in it changes.
            if invite.has(.route) { _ = RouteSet(of: invite, from: .trunk(trunk), settings, into: &splices) }
            let brand = ShownBrand(entry: plan.entry, index: context.index, card: plan.card)
            var written = WrittenNames.none
            if plan.isDecorated, plan.dialog.isNamed {
                written = Decoration.writeNames(of: brand, into: invite, from: trunk, splices: &splices)
                if written == .none {
                    decorated.dialog = DialogFacts(
                        trunk: trunk.mark, isInbound: true, isBranded: plan.dialog.isBranded)
                }
            }
            let isNamed = decorated.dialog.isNamed
            addHop(
                context.arrival, context.marks, dialog: decorated.dialog, isRenamed: isNamed, to: hop, into: &splices)
            let isCleaned = HeaderHygiene.clean(
                invite, from: trunk, ownHeaders: settings.topology.ownHeaders, isBranded: plan.isDecorated,
                hasCardLink: plan.hasCardLink, into: &splices)
            addTrunkHeader(trunk, invite, into: &splices)
            if plan.isDecorated, settings.writesCallInfo {
                Decoration.writeCallInfo(
                    of: brand, decorate: plan.decorate, isNamed: written == .all, to: context.called.pbx, into: invite,
                    splices: &splices)
            }
            if plan.hasCardLink, let entry = plan.entry, let cards = context.snapshot.cards {
                Decoration.writeCardLink(of: entry, in: context.index, at: cards, into: invite, splices: &splices)
            }
            if isNamed { CompactNames.drop(context, into: &splices) }
            if hasVerstat {
                let isVerified = written == .all && plan.card?.isNameVerified == true
                VerdictHeaders.write(context, isNameVerified: isVerified, into: &splices)
            }
            let isMarked = VerstatMark.write(hasVerstat ? settings.verstat : .off, context, into: &splices)
            decorated.bytes = splices.applied(to: invite.bytes)
            decorated.changesFrom = isCleaned || isNamed || isMarked
        }
        return decorated
    }

    private func addTrunkHeader(_ trunk: TrunkPeer, _ invite: SIPMessage, into splices: inout Splices) {
        guard !trunk.trunkHeaderLine.isEmpty, let from = invite.first(.from) else { return }
        splices.insert(at: from.start) { $0.append(contentsOf: trunk.trunkHeaderLine) }
    }

    /// From as received, needed for responses only where the forwarded one differs (RFC 3261 §8.2.6.2).
    func originalFrom(of request: SIPMessage, if isChanged: Bool) -> [UInt8] {
        guard isChanged, let field = request.first(.from) else { return [] }
        return Array(request[field.value])
    }

    /// Counts an inbound call by what of the brand its INVITE carries; nothing was left out of one in shadow.
    func count(_ decorated: DecoratedInvite, _ evidence: DecisionEvidence) {
        counters.add(.inboundCalls)
        if let reason = decorated.reason { counters.add(reason) } else { counters.add(.callsBranded) }
        if evidence.isInShadow { return }
        switch decorated.decorate {
        case .logoReasonAndName: break
        case .reasonAndName: counters.add(.logosTrimmed)
        case .name: counters.add(.reasonsTrimmed)
        case .nothing where decorated.reason == .trimmed: counters.add(.namesTrimmed)
        case .nothing: break
        }
    }
}
