// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore

// The story of one call from the trunk, stops 4 to 8 of the walk. No network and no disk between its first and its last
// line, no lock, no clock; if anything about identity, lookup or decoration fails, the call goes on unbranded.

extension SIPGateway {
    func placeInboundCall(_ arrival: Arrival, _ marks: HopMarks, from trunk: TrunkPeer) {
        let invite = arrival.message
        let call = reporter.identifier(of: invite, direction: .inbound)
        let isProtected = CallFacts.isProtected(invite, isTrusted: trunk.isTrusted, trunk.emergencyNumbers)
        let parties = CallParties(trunk: trunk.mark, pbx: trunk.pbx.mark)
        guard admit(call, on: trunk, parties, isProtected: isProtected, arrival) else { return }
        let snapshot = branding.load()
        let identity = CallerIdentity(of: invite, trunk: trunk)
        let decision = decideBranding(of: invite, identity, trunk, snapshot)
        let pbx = trunk.pbx
        var targets = order(pbx.targets, for: call, at: arrival.now, isEmergency: isProtected)
        let target = targets.next()
        let hop = target.map { self.hop(to: $0, by: trunk.pbxSocket) }
        let dressed = dress(
            arrival, marks, decision, identity, snapshot.index, from: trunk, to: pbx,
            leadingTo: hop)
        let transaction = newTransaction(
            arrival, marks, dressed.note, call, originalFrom: originalFrom(of: invite, if: dressed.changesFrom), targets
        )
        transactions.open(transaction, at: arrival.now)
        reporter.inboundInvite(
            call, invite, identity, trunk, dressed.reason, dressed.entry, snapshot.index, settings,
            at: arrival.now)
        count(dressed)
        guard let target, let hop else { return failWithoutTarget(transaction, at: arrival.now) }
        transaction.standing = target.standing
        transactions.forward(
            transaction, as: dressed.bytes, to: hop, patience: patience(targets, isCall: true), at: arrival.now)
    }

    /// Weighs what the INVITE says and what the directory allows.
    private func decideBranding(
        of invite: SIPMessage, _ identity: CallerIdentity, _ trunk: TrunkPeer, _ snapshot: BrandingSnapshot
    ) -> BrandingDecision {
        guard settings.brands else { return .passThrough(.policy) }
        let facts = CallFacts(of: invite, from: trunk, sockets: settings.topology.sockets)
        let evidence = CallEvidence(
            number: identity.number, privacy: identity.isWithheld, trunkTrusted: trunk.isTrusted,
            verification: identity.verification, isInitialInvite: facts.isInitial, isEmergency: facts.isEmergency,
            isSpiral: facts.isSpiral, hasReplaces: facts.hasReplaces)
        return decide(evidence, policy: trunk.policy, gates: snapshot.gates, index: snapshot.index)
    }

    /// Builds the INVITE to send, and takes decoration off again until it fits the target's datagrams.
    private func dress(
        _ arrival: Arrival, _ marks: HopMarks, _ decision: BrandingDecision, _ identity: CallerIdentity,
        _ index: BrandIndex, from trunk: TrunkPeer, to pbx: PBXPeer, leadingTo hop: NextHop?
    ) -> DressedInvite {
        func undressed(_ reason: PassThroughReason) -> DressedInvite {
            let note = DialogNote(trunk: Int(trunk.mark), isInbound: true, isBranded: false)
            return splice(arrival, marks, note, nil, reason, .nothing, index, from: trunk, leadingTo: hop)
        }
        switch decision {
        case .passThrough(let reason): return undressed(reason)
        case .show(let entry):
            let largest = pbx.largestDatagram ?? .max
            let isNamed = Decoration.namesGiveWay(
                in: arrival.message, of: identity.number, from: trunk)
            let caller = isNamed ? identity.number?.digits ?? 0 : 0
            let note = DialogNote(
                trunk: Int(trunk.mark), isInbound: true, isBranded: true, isNamed: isNamed, caller: caller,
                isAsserted: identity.isAsserted)
            // Where the carrier's name stays and there is neither logo nor reason, nothing is shown at all.
            var reason = PassThroughReason.policy
            for dress in BrandDress.allCases where isNamed || shows(dress, of: entry, in: index) {
                guard dress != .nothing else { break }
                let dressed = splice(
                    arrival, marks, note, entry, nil, dress, index, from: trunk, leadingTo: hop)
                if dressed.bytes.count <= largest { return dressed }
                reason = .trimmed
            }
            return undressed(reason)
        }
    }

    /// Whether anything beside the name is written.
    private func shows(_ dress: BrandDress, of entry: BrandEntry, in index: BrandIndex) -> Bool {
        settings.writesCallInfo && Decoration.part(of: dress).map { index.length(of: $0, entry) > 0 } ?? false
    }

    /// Notes every edit of one INVITE and applies them to the received bytes.
    private func splice(
        _ arrival: Arrival, _ marks: HopMarks, _ note: DialogNote, _ entry: BrandEntry?, _ reason: PassThroughReason?,
        _ dress: BrandDress, _ index: BrandIndex, from trunk: TrunkPeer, leadingTo hop: NextHop?
    ) -> DressedInvite {
        let (invite, topology) = (arrival.message, settings.topology)
        return withSplices { splices in
            _ = RouteSet(
                of: invite, sockets: topology.sockets, secret: settings.secret, isFromTrunk: true, into: &splices)
            addHop(arrival, marks, note: note, to: hop, into: &splices)
            let isCleaned = HeaderHygiene.clean(
                invite, from: trunk, trunkHeaders: topology.trunkHeaders, isBranded: entry != nil, into: &splices)
            addTrunkHeader(trunk, invite, into: &splices)
            if let entry {
                if note.isNamed {
                    Decoration.writeNames(of: entry, in: index, into: invite, from: trunk, splices: &splices)
                }
                if settings.writesCallInfo {
                    Decoration.writeCallInfo(of: entry, in: index, dress: dress, into: invite, splices: &splices)
                }
            }
            return DressedInvite(
                bytes: splices.applied(to: invite.bytes), entry: entry, reason: reason, dress: dress, note: note,
                changesFrom: isCleaned || note.isNamed)
        }
    }

    private func addTrunkHeader(_ trunk: TrunkPeer, _ invite: SIPMessage, into splices: inout Splices) {
        guard !trunk.trunkHeaderLine.isEmpty, let from = invite.first(.from) else { return }
        splices.insert(at: from.start) { $0.append(contentsOf: trunk.trunkHeaderLine) }
    }

    /// From as received, needed for responses only where it was changed (RFC 3261 §8.2.6.2).
    func originalFrom(of request: SIPMessage, if isChanged: Bool) -> [UInt8] {
        guard isChanged, let field = request.first(.from) else { return [] }
        return Array(request[field.value])
    }

    private func count(_ dressed: DressedInvite) {
        counters.add(.inboundCalls)
        if let reason = dressed.reason { counters.add(reason) } else { counters.add(.callsBranded) }
        switch dressed.dress {
        case .logoReasonAndName: break
        case .reasonAndName: counters.add(.logosTrimmed)
        case .name: counters.add(.reasonsTrimmed)
        case .nothing where dressed.reason == .trimmed: counters.add(.namesTrimmed)
        case .nothing: break
        }
    }
}

/// An INVITE as it will be sent, and what of the brand is in it.
struct DressedInvite {
    let bytes: [UInt8]
    /// The brand shown; nil for none.
    let entry: BrandEntry?
    /// Why none is shown; nil when one is.
    let reason: PassThroughReason?
    let dress: BrandDress
    /// What the dialog is to remember of its beginning.
    let note: DialogNote
    /// From is another one than the carrier's.
    let changesFrom: Bool
}
