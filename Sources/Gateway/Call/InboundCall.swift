// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

// The story of one call from the trunk, stops 4 to 8 of the walk. No network and no disk between its first and its last
// line, no lock, no clock; if anything about identity, lookup or decoration fails, the call goes on unbranded.

extension SIPGateway {
    func placeInboundCall(_ arrival: Arrival, _ marks: HopMarks, from trunk: TrunkPeer) {
        let invite = arrival.message
        let call = reporter.identifier(of: invite, direction: .inbound)
        guard admit(call, on: trunk, arrival) else { return }
        let snapshot = branding.load()
        let identity = CallerIdentity(of: invite, trunk: trunk)
        let decision = decideBranding(of: invite, identity, trunk, snapshot)
        let pbx = settings.topology.pbxs[trunk.pbx]
        var targets = order(pbx.targets, for: call, at: arrival.now)
        let target = targets.next()
        let hop = target.map { self.hop(to: $0, by: trunk.pbxSocket) }
        let dressed = dress(
            arrival, marks, decision, snapshot.index, from: trunk, to: pbx,
            leavingBy: hop?.socket ?? arrival.flow.socket)
        let note = note(of: dressed.entry, invite, trunk)
        let transaction = newTransaction(
            arrival, marks, note, call, originalFrom: originalFrom(of: invite, if: note.isNamed), targets)
        transactions.open(transaction, at: arrival.now)
        reporter.inboundInvite(
            call, invite, identity, trunk, dressed.reason, dressed.entry, snapshot.index, settings,
            at: arrival.now)
        count(dressed)
        guard let target, let hop else { return failWithoutTarget(transaction, at: arrival.now) }
        transaction.standing = target.standing
        transactions.forward(transaction, as: dressed.bytes, to: hop, patience: patience(targets), at: arrival.now)
    }

    /// Weighs what the INVITE says and what the directory allows.
    private func decideBranding(
        of invite: SIPMessage, _ identity: CallerIdentity, _ trunk: TrunkPeer, _ snapshot: BrandingSnapshot
    ) -> BrandingDecision {
        guard settings.brands else { return .passThrough(.policy) }
        let facts = CallFacts(of: invite, sockets: settings.topology.sockets)
        let evidence = CallEvidence(
            number: identity.number, privacy: identity.isWithheld, trunkTrusted: trunk.isTrusted,
            verification: identity.verification, isInitialInvite: facts.isInitial, isEmergency: facts.isEmergency,
            isSpiral: facts.isSpiral, hasReplaces: facts.hasReplaces)
        return decide(evidence, policy: trunk.policy, gates: snapshot.gates, index: snapshot.index)
    }

    /// Builds the INVITE to send, and takes decoration off again until it fits the target's datagrams.
    private func dress(
        _ arrival: Arrival, _ marks: HopMarks, _ decision: BrandingDecision, _ index: BrandIndex, from trunk: TrunkPeer,
        to pbx: PBXPeer, leavingBy socket: Int
    ) -> DressedInvite {
        func undressed(_ reason: PassThroughReason) -> DressedInvite {
            let bytes = splice(arrival, marks, nil, .nothing, index, from: trunk, leavingBy: socket)
            return DressedInvite(bytes: bytes, entry: nil, reason: reason, dress: .nothing)
        }
        switch decision {
        case .passThrough(let reason): return undressed(reason)
        case .show(let entry):
            let largest = pbx.largestDatagram ?? .max
            for dress in BrandDress.allCases where dress != .nothing {
                let bytes = splice(arrival, marks, entry, dress, index, from: trunk, leavingBy: socket)
                if bytes.count <= largest {
                    return DressedInvite(bytes: bytes, entry: entry, reason: nil, dress: dress)
                }
            }
            return undressed(.trimmed)
        }
    }

    /// Notes every edit of one INVITE and applies them to the received bytes.
    private func splice(
        _ arrival: Arrival, _ marks: HopMarks, _ entry: BrandEntry?, _ dress: BrandDress, _ index: BrandIndex,
        from trunk: TrunkPeer, leavingBy socket: Int
    ) -> [UInt8] {
        let invite = arrival.message
        return withSplices { splices in
            _ = RouteSet(of: invite, sockets: settings.topology.sockets, secret: settings.secret, into: &splices)
            let note = note(of: entry, invite, trunk)
            addHop(arrival, marks, note: note, leavingBy: socket, into: &splices)
            HeaderHygiene.clean(invite, from: trunk, isBranded: entry != nil, into: &splices)
            addTrunkHeader(trunk, invite, into: &splices)
            if let entry {
                if note.isNamed {
                    Decoration.writeNames(of: entry, in: index, into: invite, from: trunk, splices: &splices)
                }
                if settings.writesCallInfo {
                    Decoration.writeCallInfo(of: entry, in: index, dress: dress, into: invite, splices: &splices)
                }
            }
            return splices.applied(to: invite.bytes)
        }
    }

    /// What the dialog is to remember of its beginning.
    private func note(of entry: BrandEntry?, _ invite: SIPMessage, _ trunk: TrunkPeer) -> DialogNote {
        DialogNote(
            trunk: Int(trunk.mark), isInbound: true, isBranded: entry != nil,
            isNamed: entry != nil && Decoration.namesGiveWay(in: invite, from: trunk))
    }

    private func addTrunkHeader(_ trunk: TrunkPeer, _ invite: SIPMessage, into splices: inout Splices) {
        guard let header = trunk.trunkHeader, let from = invite.first(.from) else { return }
        splices.insert(at: from.start) { $0.append(contentsOf: "\(header): \(trunk.name)\r\n".utf8) }
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
}
