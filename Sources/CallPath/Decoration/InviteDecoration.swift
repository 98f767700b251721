// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore

// The INVITE of a call from a trunk as it leaves: edits of the received bytes, and the brand if the decision shows one.

extension ProxyCore {
    /// Builds the INVITE to send, and removes decoration until it fits the target's datagrams.
    func decorate(_ context: borrowing InboundContext, leadingTo hop: NextHop?) -> DecoratedInvite {
        func plain(_ reason: PassThroughReason) -> DecoratedInvite {
            let dialog = DialogFacts(trunk: context.trunk.mark, isInbound: true, isBranded: false)
            let plan = DecoratedInvite(dialog: dialog, reason: reason)
            let decorated = write(plan, context, leadingTo: hop)
            let isTooLarge = marksVerification(context) && decorated.bytes.count > context.largest
            return isTooLarge ? write(plan, context, leadingTo: hop, hasVerstat: false) : decorated
        }
        switch context.decision {
        case .passThrough(let reason): return plain(reason)
        case .show(let entry):
            let isNamed = Decoration.replacesCallerName(
                in: context.invite, of: context.identity.number, from: context.trunk)
            let dialog = DialogFacts(
                trunk: context.trunk.mark, isInbound: true, isBranded: true, isNamed: isNamed,
                caller: context.identity.number?.digits ?? 0, isAsserted: context.identity.isAsserted,
                customer: context.called.customer?.mark ?? 0)
            // Where the carrier's name stays and the brand has neither logo nor reason, nothing is shown.
            var reason = PassThroughReason.policy
            for decorate in BrandingLevel.allCases where decorate != .nothing {
                let hasMore = shows(decorate, of: entry, in: context.index)
                guard isNamed || hasMore else { continue }
                let plan = DecoratedInvite(dialog: dialog, entry: entry, decorate: decorate)
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
            return plain(reason)
        }
    }

    /// Whether the INVITE may have a mark of its verification, which counts less than the name.
    private func marksVerification(_ context: borrowing InboundContext) -> Bool {
        settings.verstat != .off || context.called.pbx.takesVerdict
    }

    /// Whether a level writes anything beside the name.
    private func shows(_ decorate: BrandingLevel, of entry: BrandEntry, in index: BrandIndex) -> Bool {
        settings.writesCallInfo && Decoration.part(of: decorate).map { index.length(of: $0, entry) > 0 } ?? false
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
            if let entry = plan.entry, plan.dialog.isNamed,
                !Decoration.writeNames(of: entry, in: context.index, into: invite, from: trunk, splices: &splices)
            {
                decorated.dialog = DialogFacts(trunk: trunk.mark, isInbound: true, isBranded: true)
            }
            let isNamed = decorated.dialog.isNamed
            addHop(
                context.arrival, context.marks, dialog: decorated.dialog, isRenamed: isNamed, to: hop, into: &splices)
            let isCleaned = HeaderHygiene.clean(
                invite, from: trunk, ownHeaders: settings.topology.ownHeaders, isBranded: plan.entry != nil,
                into: &splices)
            addTrunkHeader(trunk, invite, into: &splices)
            if let entry = plan.entry, settings.writesCallInfo {
                Decoration.writeCallInfo(
                    of: entry, in: context.index, decorate: plan.decorate, to: context.called.pbx, into: invite,
                    splices: &splices)
            }
            if hasVerstat { VerdictHeaders.write(context, into: &splices) }
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

    /// Counts an inbound call by what of the brand its INVITE carries.
    func count(_ decorated: DecoratedInvite) {
        counters.add(.inboundCalls)
        if let reason = decorated.reason { counters.add(reason) } else { counters.add(.callsBranded) }
        switch decorated.decorate {
        case .logoReasonAndName: break
        case .reasonAndName: counters.add(.logosTrimmed)
        case .name: counters.add(.reasonsTrimmed)
        case .nothing where decorated.reason == .trimmed: counters.add(.namesTrimmed)
        case .nothing: break
        }
    }
}
