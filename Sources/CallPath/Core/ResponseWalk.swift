// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore
import Trust

// The walk of a response of a configured peer (RFC 3261 §16.7).

extension ProxyCore: TransactionUser {
    /// Removes from a response what its sender may not bring, and then handles it.
    ///
    /// A trunk's response loses untrusted claims and keeps the name of its dialog. A PBX's response loses the identity of a
    /// callee that withholds it, if the trunk does not take withheld identities.
    func receiveResponse(_ arrival: Arrival, _ branch: Branch?, from peer: GatewayTopology.Peer) {
        let changed: [UInt8]? =
            switch peer {
            case .trunk(let trunk): clean(arrival.message, from: trunk, branch.flatMap { transactions[$0]?.dialog })
            case .pbx: withheld(arrival, branch)
            }
        guard let bytes = changed else { return walk(arrival, branch, from: peer) }
        guard let cleaned = try? SIPMessage.index(bytes, limits: settings.limits) else {
            return drop(arrival, "it cannot be read without what its sender may not bring")
        }
        walk(
            Arrival(message: cleaned, flow: arrival.flow, now: arrival.now), branch, from: peer)
    }

    /// Finds the transaction by the gateway's own Via; without a transaction the response is forwarded statelessly.
    private func walk(_ arrival: Arrival, _ branch: Branch?, from peer: GatewayTopology.Peer) {
        let response = arrival.message
        guard let branch, let top = response.topVia, let branchText = top.value.branch,
            settings.topology.sockets.areNamed(host: response[top.value.host], port: top.value.port)
        else {
            // RFC 3261 §16.7 step 3 and §18.1.2: a response without our Via on top is dropped.
            return drop(arrival, "its topmost Via is not Herald's")
        }
        guard let sequence = response.sequence else { return drop(arrival, "its CSeq cannot be read") }
        guard RequestValidity.hasTrueLength(response) else {
            return drop(arrival, "its body is shorter than Content-Length")
        }
        let method = SIPMethod.recognise(response[sequence.method])
        let isForCancel = method == .cancel
        let isForInvite = isForCancel || method == .invite
        // RFC 3261 §17.1.3: branch and CSeq method name the transaction. After its end on the target's side a late 2xx
        // is forwarded statelessly (§16.7 step 5).
        if let transaction = transactions[branch], transaction.isInvite == isForInvite {
            if transaction.hasOwnFailure, transaction.isCall, !isForCancel, response.isSuccess {
                return takeTooLate(arrival, for: transaction)
            }
            let attempt = Branch.attempt(response[branchText])
            guard isForCancel || transaction.awaitsResponses || transaction.hasGivenUp(attempt) else {
                return returnStatelessly(arrival, top.value, from: peer)
            }
            if !isForCancel, !response.hasSecondVia { markWithoutVia(arrival, of: transaction) }
            transactions.receive(
                response, in: transaction, attempt: attempt, from: arrival.flow, isForCancel: isForCancel,
                at: arrival.now)
            sourceWithoutVia = nil
        } else {
            returnStatelessly(arrival, top.value, from: peer)
        }
    }

    /// Drops a response, counts it, and leaves a record with the reason.
    func drop(_ arrival: Arrival, _ reason: StaticString) {
        counters.add(.responsesDropped)
        shared.recordRejection(
            of: arrival.message, by: arrival.flow, 0, for: .brokenRule, phrase: reason, settings, at: arrival.now)
    }

    /// Adds a missing Content-Length where the next hop may be a stream (RFC 3261 §16.6 step 9, §20.14).
    ///
    /// On a stream it alone shows where the next message begins.
    func addLength(to message: SIPMessage, into splices: inout Splices) {
        guard settings.topology.hasStreams, !message.has(.contentLength), let first = message.headers.first else {
            return
        }
        let length = message.bytes.count - message.bodyStart
        splices.insert(at: first.start) {
            $0.append("Content-Length: ")
            $0.append(decimal: length)
            $0.append("\r\n")
        }
    }

    /// A trunk's response without untrusted claims; nil if nothing changes.
    private func clean(_ response: SIPMessage, from trunk: TrunkPeer, _ dialog: DialogFacts?) -> [UInt8]? {
        withSplices { splices in
            HeaderHygiene.clean(
                response, from: trunk, ownHeaders: settings.topology.ownHeaders, isBranded: false, into: &splices)
            if let dialog, dialog.isOf(.trunk(trunk)) { renameInResponse(response, trunk, dialog, into: &splices) }
            return splices.isEmpty ? nil : splices.applied(to: response.bytes)
        }
    }

    /// A PBX's response without the identity of a callee that withholds it; nil if nothing changes.
    private func withheld(_ arrival: Arrival, _ branch: Branch?) -> [UInt8]? {
        let response = arrival.message
        guard response.has(.privacy) || response.has(.remotePartyID), let branch,
            let dialog = transactions[branch]?.dialog,
            let trunk = settings.topology.trunk(mark: dialog.trunk, at: arrival.now)
        else { return nil }
        return withSplices { splices in
            HeaderHygiene.withhold(response, from: trunk, into: &splices)
            return splices.isEmpty ? nil : splices.applied(to: response.bytes)
        }
    }

    /// Writes the brand's name into the caller's response to a later request of the dialog, such as a hold.
    ///
    /// A PBX shows the name asserted there as the caller's newest. From is the PBX's own.
    private func renameInResponse(
        _ response: SIPMessage, _ trunk: TrunkPeer, _ dialog: DialogFacts, into splices: inout Splices
    ) {
        guard dialog.isNamed, dialog.isInbound, dialog.caller != 0, settings.brands,
            response.has(.pAssertedIdentity) || response.has(.remotePartyID)
        else { return }
        guard let index = brands(of: dialog)?.load().index else { return }
        let identity = CallerIdentity(of: response, trunk: trunk)
        guard identity.isAsserted, let caller = E164Number(digits: dialog.caller), identity.number == caller,
            let entry = index.entry(for: caller)
        else { return }
        let brand = ShownBrand(entry: entry, index: index)
        Decoration.writeAssertedNames(of: brand, into: response, from: trunk, splices: &splices)
    }

    func deliver(_ response: SIPMessage, to transaction: GatewayTransaction, at now: Moment) {
        guard let status = response.status, response.topVia != nil, !transaction.isOwn else { return }
        record(response, status, of: transaction, at: now)
        if sourceWithoutVia != nil { return takeWithoutVia(response, status, for: transaction, at: now) }
        if status == 503, tryNext(transaction, at: now) { return }
        reporter.responded(response, in: transaction, settings, at: now)
        let upstream = status == 503 ? 500 : status
        let bytes = withSplices { splices in
            turnUpstream(response, into: &splices)
            if !transaction.originalFrom.isEmpty {
                ResponseForwarding.restoreFrom(transaction.originalFrom, in: response, into: &splices)
            }
            if !transaction.originalTo.isEmpty {
                ResponseForwarding.restoreTo(transaction.originalTo, in: response, into: &splices)
            }
            addReport(of: transaction, status, response, at: now, into: &splices)
            return splices.applied(to: response.bytes)
        }
        recordRegistrar(response, status, of: transaction, at: now)
        counters.add(.responsesForwarded)
        transactions.respond(upstream, bytes, in: transaction, at: now)
    }

    /// Adds what was found out about the call's signatures to the response that has it by the trunk's regime, once.
    private func addReport(
        of transaction: GatewayTransaction, _ status: Int, _ response: SIPMessage, at now: Moment,
        into splices: inout Splices
    ) {
        guard !transaction.ownerState.signatureReport.isEmpty, let first = response.first(.from),
            let trunk = settings.topology.trunk(mark: transaction.dialog.trunk, at: now),
            let regime = trunk.signatures?.policy.regimes.first,
            SignatureReport.belongs(in: status, under: regime)
        else { return }
        splices.insert(at: first.start) { $0.append(contentsOf: transaction.ownerState.signatureReport) }
        transaction.ownerState.signatureReport = []
    }

    func rings(_ transaction: GatewayTransaction) -> Bool { reporter.ringsElsewhere(transaction) }

    func targetTimedOut(_ transaction: GatewayTransaction, at now: Moment) {
        // No other target may ring, and a rejection would end the call of a phone that rings.
        if reporter.isDecidedElsewhere(transaction) { return transactions.leave(transaction) }
        recordSilence(of: transaction, at: now)
        if tryNext(transaction, at: now) { return }
        reporter.timedOut(transaction, at: now)
        if transaction.isCall, !transaction.hasProgress, !transaction.isCancelled {
            return giveUp(transaction, at: now)
        }
        respond(in: transaction, 408, "Request Timeout", at: now)
    }

    func targetUnreachable(_ transaction: GatewayTransaction, at now: Moment) {
        let isTooLarge = isTooLarge(transaction)
        if !isTooLarge { transaction.targetState?.record(.unreachable, at: now.milliseconds) }
        if tryNext(transaction, isUndelivered: true, at: now) { return }
        reporter.unreachable(transaction, at: now)
        if isTooLarge { return refuseForSize(transaction, at: now) }
        if transaction.isCall { return giveUp(transaction, at: now) }
        // RFC 3261 §16.9 counts it as a 503 of the target, §16.7 step 6 makes that a 500.
        respond(in: transaction, 500, "Server Internal Error", at: now)
    }

    /// Ends a call whose targets are all silent or unreachable with 503, on which a client tries another server (RFC 3263
    /// §4.3).
    ///
    /// The 503 is the gateway's own and not a target's (§16.7 step 6). Without Retry-After it concerns this call alone
    /// (§21.5.4).
    private func giveUp(_ transaction: GatewayTransaction, at now: Moment) {
        transactions.giveUp(transaction)
        if let request = transaction.pendingRequest { recordNoTarget(for: request, of: transaction, at: now) }
        respond(in: transaction, 503, "Service Unavailable", at: now)
    }

    /// Whether the forwarded request exceeds a datagram.
    private func isTooLarge(_ transaction: GatewayTransaction) -> Bool {
        guard let target = transaction.target, !target.isReliable else { return false }
        return transaction.forwardedBytes > RequestLimits.datagram(to: target.address)
    }

    /// Rejects a request that no datagram can hold once it is forwarded.
    private func refuseForSize(_ transaction: GatewayTransaction, at now: Moment) {
        if let request = transaction.pendingRequest, let target = transaction.target {
            let size = Rejection.Size(
                measured: transaction.forwardedBytes, limit: RequestLimits.datagram(to: target.address))
            shared.recordRejection(
                of: request, by: transaction.flow, 513, for: .datagramSize, size: size, settings, at: now)
        }
        respond(in: transaction, 513, "Message Too Large", at: now)
    }

    /// The edits of every response that goes upstream, with a transaction or without.
    ///
    /// RFC 3261 §16.7 step 6: a target's 503 goes on as 500. As a 503 it would make the upstream element avoid the whole
    /// gateway, and its Retry-After is the target's.
    private func turnUpstream(_ response: SIPMessage, into splices: inout Splices) {
        ResponseForwarding.removeTopVia(of: response, into: &splices)
        if response.status == 503 { ResponseForwarding.hideUnavailability(in: response, into: &splices) }
        addLength(to: response, into: &splices)
    }

    /// Responds in the place of the target.
    func respond(in transaction: GatewayTransaction, _ status: Int, _ phrase: StaticString, at now: Moment) {
        guard let request = transaction.pendingRequest else { return }
        transaction.hasOwnFailure = true
        let bytes = LocalMessages.response(
            to: request, status: status, phrase: phrase, toTag: OwnResponse.tag(for: request, secret: settings.secret),
            source: transaction.flow.source)
        transactions.respond(status, bytes, in: transaction, at: now)
    }

    /// Forwards a response to the Via below the gateway's (RFC 3261 §16.11), if a configured peer has that address.
    private func returnStatelessly(_ arrival: Arrival, _ via: ViaValue, from peer: GatewayTopology.Peer) {
        let response = arrival.message
        let isOfOther = response.status == 481 && RequestForwarding.isOneOfSeveral(response, via)
        // A 100 is for this hop alone, and of several attempts to cancel all but one get a 481.
        guard response.status != 100, !isOfOther else { return counters.add(.responsesDropped) }
        guard let next = ViaValue.second(of: response) else {
            return drop(arrival, "its only Via is Herald's, and the request is not in memory")
        }
        guard let destination = ResponseForwarding.destination(of: next, in: response),
            let upstream = settings.topology.peer(at: destination, orFormerAt: arrival.now)
        else { return drop(arrival, "the Via below Herald's has no peer's address") }
        if !peer.isTest, !upstream.isTest {
            reporter.respondedStatelessly(response, to: upstream, fromTrunk: peer.isTrunk, settings, at: arrival.now)
        }
        var splices = Splices()
        turnUpstream(response, into: &splices)
        if let original = OriginalFrom.read(in: response, via) {
            ResponseForwarding.restoreFrom(original, in: response, into: &splices)
        }
        if case .trunk(let trunk) = upstream { HeaderHygiene.withhold(response, from: trunk, into: &splices) }
        counters.add(.forwardedStatelessly)
        let socket = settings.topology.socket(
            toReach: destination, among: upstream.targets, by: next.transport(in: response),
            otherwise: upstream.socket)
        transactions.outgoing.append(
            OutgoingMessage(bytes: splices.applied(to: response.bytes), destination: destination, socket: socket))
    }
}
