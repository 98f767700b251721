// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
public import SIPCore

// The walk of a request, above all of an INVITE from a trunk, from top to bottom of this file:
//
//     receive → admit → index → admit the sender → validate → retransmission? → loop check → route
//     → admit the call → identity → trust verdict → decision → target → decoration → forward
//
// One message, one set of settings, one worker thread, no suspension. Each stop is one call; its rules are in the file of
// the called function. If identity, lookup or decoration fails, the call goes on unbranded.

// MARK: - Receive, admit, index: the worker

extension GatewayElement {
    public func receive(_ bytes: Span<UInt8>, by flow: consuming Flow, at now: Moment) {
        shared.counters.add(.datagramsReceived)
        shared.settings.renew(&held)
        let settings = held.settings
        lastActivity = now
        if shared.trace.isOn { shared.trace.received(bytes, by: flow, settings.topology, at: now) }
        guard case .pass = overload.admit(bytes, by: flow, settings, at: now) else { return }
        do {
            let message = try SIPMessage.index(bytes, limits: settings.limits)
            dispatch(Arrival(message: message, flow: flow, now: now), settings)
        } catch {
            rejectUnreadable(bytes, by: flow, for: error, settings, at: now)
        }
    }

    /// Admits an indexed message by its sender, and hands it to the shard that keeps its transaction.
    private func dispatch(_ arrival: Arrival, _ settings: GatewaySettings) {
        guard let peer = peer(of: arrival, settings) else { return rejectUnknownPeer(arrival, settings) }
        let branch = branch(of: arrival.message, from: peer, settings)
        // The branch of a probe has another form.
        if branch == nil, shared.probes.takesResponse(arrival.message, settings, at: arrival.now) { return }
        if let fault = arrival.flow.fault { return rejectUnframed(arrival, for: fault, settings) }
        if arrival.message.method == .invite, let branch {
            if followsPause, isLate(arrival, branch, from: peer, settings) { return }
            let verdict = overload.admit(arrival, branch, from: peer, settings) { isKnown($0) }
            if case .shed(let response) = verdict { return outgoing.append(response) }
            trust.isPressed = overload.isPressed(at: arrival.flow.socket)
        }
        shards.shard(of: branch ?? Branch(token: 0)).perform(settings, into: &outgoing) { core in
            if arrival.message.status == nil {
                core.receiveRequest(arrival, branch, from: peer, trust)
            } else {
                core.receiveResponse(arrival, branch, from: peer)
            }
        }
    }
}

// MARK: - Validate, retransmission, loop check: the proxy core

extension ProxyCore {
    /// Validates a request, absorbs a retransmission, responds to what is meant for the gateway, and opens a transaction
    /// for the rest, in the order of RFC 3261 §16.3.
    ///
    /// - Parameter branch: nil only where the topmost Via cannot be read, which validation rejects.
    func receiveRequest(
        _ arrival: Arrival, _ branch: Branch?, from peer: GatewayTopology.Peer, _ worker: WorkerTrust
    ) {
        let request = arrival.message
        if let refusal = RequestValidity.formRefusal(of: request) { return refuse(arrival, refusal) }
        guard let branch else { return }
        if let known = transactions[branch] { return handleRetransmission(known, arrival, from: peer) }
        if request.method == .ack, OwnResponse.isAcknowledged(by: request, secret: settings.secret) { return }
        if request.method == .options, isForGateway(request, from: peer) {
            return respondToOptions(arrival, from: peer)
        }
        if let refusal = RequestValidity.forwardingRefusal(of: request) { return refuse(arrival, refusal) }
        let marks = HopMarks(branch: branch, of: request, secret: settings.secret)
        switch request.method {
        // RFC 3261 §16.10 and §16.11: an ACK or a CANCEL without its transaction goes on statelessly.
        case .ack: forwardStatelessly(arrival, marks, from: peer)
        case .cancel:
            reporter.cancelledWithoutMemory(request, from: peer, at: arrival.now)
            forwardStatelessly(arrival, marks, from: peer)
        default: open(arrival, marks, from: peer, worker)
        }
    }

    /// Rejects a loop and what memory has no capacity for, and starts the walk of the request's kind.
    private func open(
        _ arrival: Arrival, _ marks: HopMarks, from peer: GatewayTopology.Peer, _ worker: WorkerTrust
    ) {
        let isInitialInvite = arrival.message.method == .invite && !arrival.message.isInDialog
        if marks.loop.isPresent(in: arrival.message, sockets: settings.topology.sockets) {
            counters.add(.loopsFound)
            return reject(arrival, FailureResponse(482, "Loop Detected"), for: .loop)
        }
        guard !transactions.isFull() || hasReserve(arrival.message, from: peer) else {
            counters.add(.overloadRefused)
            return reject(
                arrival, FailureResponse(503, "Service Unavailable", .retryAfter(seconds: 5)), for: .transactions)
        }
        // No request of a call in progress, and no emergency call, is rejected for want of memory (RFC 3261 §16.11).
        guard !transactions.isFull(forDialogs: true) else { return forwardStatelessly(arrival, marks, from: peer) }
        switch peer {
        case .trunk(let trunk) where isInitialInvite: placeInboundCall(arrival, marks, from: trunk, worker)
        case .pbx(let pbx) where isInitialInvite: placeOutboundCall(arrival, marks, from: pbx)
        default: relay(arrival, marks, from: peer)
        }
    }
}

// MARK: - Route, admit the call, identity, trust verdict, decision, target, decoration, forward: a call from a trunk

extension ProxyCore {
    private func placeInboundCall(
        _ arrival: Arrival, _ marks: HopMarks, from trunk: TrunkPeer, _ worker: WorkerTrust
    ) {
        let invite = arrival.message
        let call = reporter.identifier(of: invite, direction: .inbound)
        let facts = CallFacts(of: invite, isTrusted: trunk.isTrusted, trunk.emergencyNumbers)
        // The operator's command has refused it before.
        if trunk.isTest, facts.isEmergency { return respond(to: arrival, FailureResponse(403, "Forbidden")) }
        guard let called = route(arrival, from: trunk, isProtected: facts.isProtected) else { return }
        let parties = CallParties(trunk: trunk.mark, pbx: called.pbx.key)
        guard admit(call, on: trunk, called.route, parties, isProtected: facts.isProtected, arrival) else { return }
        let snapshot = (called.customer?.branding ?? branding).load()
        // The identity has the trunk's word about the number, as far as it is trusted. The signature is checked here.
        let identity = CallerIdentity(of: invite, trunk: trunk)
        let isSpiral = settings.isSpiral(invite)
        var signed = verifySignatures(arrival, call, facts, identity, on: trunk, isSpiral: isSpiral, worker)
        let found = decideBranding(
            of: invite, facts, identity, signed?.verification ?? identity.verification, isSpiral, trunk, called,
            snapshot)
        var named = NameDecision(found)
        if let verdict = signed {
            let other = verdict.otherVerification(than: identity.verification).map {
                decideBranding(of: invite, facts, identity, $0, isSpiral, trunk, called, snapshot)
            }
            let replacesName =
                invite.has(.identity)
                && Decoration.replacesCallerName(in: invite, of: identity.number, from: trunk)
            named = weighNames(
                verdict, found, other ?? found, on: trunk, replacesName: replacesName, called, snapshot)
            if !verdict.evidence.isRejected { signed?.evidence.nameOrigin = named.origin }
            if named.hasVerifiedLogo { signed?.evidence.iconWasCompared() }
            signed?.evidence.changesCall = named.isChanged
            if let refusal = verdict.refusal {
                // Another branch of a forked call may ring.
                reporter.withdrawn(call, isTest: trunk.isTest, at: arrival.now)
                let context = InboundContext(
                    arrival: arrival, marks: marks, trunk: trunk, called: called,
                    call: call.rejected(marks.branch.value), identity: identity, signed: signed, takesMark: false,
                    decision: .passThrough(identity.isWithheld ? .privacy : .failedVerification),
                    found: found, card: nil, snapshot: snapshot)
                return rejectForSignature(context, refusal)
            }
        }
        let context = InboundContext(
            arrival: arrival, marks: marks, trunk: trunk, called: called, call: call, identity: identity,
            signed: signed,
            takesMark: !(facts.isEmergency || isSpiral || invite.isInDialog || invite.has(.replaces)),
            decision: named.decision, found: found, card: named.card, snapshot: snapshot)
        var targets = order(context.called.pbx.targets, for: call, at: arrival.now, isEmergency: facts.isProtected)
        let target = targets.next()
        let hop = target.map { self.hop(to: $0, by: trunk.pbxSocket) }
        let decorated = decorate(context, leadingTo: hop)
        let transaction = newTransaction(
            arrival, marks, decorated.dialog, call,
            originalFrom: originalFrom(of: invite, if: decorated.changesFrom), targets)
        if let signed, let rules = trunk.signatures {
            transaction.ownerState.signatureReport = SignatureReport.lines(of: signed.verdict, in: invite, under: rules)
        }
        transactions.open(transaction, at: arrival.now)
        let evidence = DecisionEvidence(context, decorated, settings)
        if !trunk.isTest {
            reporter.inboundInvite(context, decorated, evidence, settings)
            count(decorated, evidence)
            context.called.customer?.count(isBranded: decorated.reason == nil)
        }
        if shared.trace.isOn { shared.trace.decided(context, decorated, evidence) }
        guard let target, let hop else { return failWithoutTarget(transaction, at: arrival.now) }
        use(target, for: transaction)
        transactions.forward(
            transaction, as: decorated.bytes, to: hop, patience: patience(targets, isCall: true), at: arrival.now)
    }

    /// Rejects a call for its signature, and reports it as a call of its own: no target gets it.
    private func rejectForSignature(_ context: borrowing InboundContext, _ refusal: FailureResponse) {
        let dialog = DialogFacts(trunk: context.trunk.mark, isInbound: true, isBranded: false)
        let undecorated = DecoratedInvite(
            dialog: dialog, reason: context.identity.isWithheld ? .privacy : .failedVerification)
        let evidence = DecisionEvidence(context, undecorated, settings)
        if !context.trunk.isTest {
            reporter.inboundInvite(context, undecorated, evidence, settings)
            reporter.rejected(context.call, status: UInt16(refusal.status), at: context.arrival.now)
            count(undecorated, evidence)
            context.called.customer?.count(isBranded: false)
        }
        if shared.trace.isOn { shared.trace.decided(context, undecorated, evidence) }
        reject(context.arrival, refusal, for: .signature)
    }

    /// Weighs the names of directory and signature, and counts the call.
    ///
    /// In shadow the directory decides, and a call that signed values would change is counted.
    ///
    /// - Parameters:
    ///   - other: the decision by the verification that was not taken.
    ///   - replacesName: whether the name of the call replaces the one that the carrier sent.
    private func weighNames(
        _ signed: SignedVerdict, _ found: BrandingDecision, _ other: BrandingDecision, on trunk: TrunkPeer,
        replacesName: Bool, _ called: borrowing CalledRoute, _ snapshot: BrandingSnapshot
    ) -> NameDecision {
        guard let rules = trunk.signatures else { return NameDecision(found) }
        let counted = signed.evidence.counts ? found : other
        let named = signed.named(
            counted, in: snapshot, on: trunk, replacesName: replacesName, under: rules, logo: called.pbx.logoKey)
        var taken = signed.evidence.counts ? named : NameDecision(found)
        taken.hasVerifiedLogo = named.card?.hasVerifiedLogo == true
        let changesCall = signed.isToBeRejected || other != found
        let changesNames = named.card != nil || named.decision != counted
        taken.isChanged = changesCall || changesNames
        if !trunk.isTest {
            shared.trust.counters.add(
                signed, changesCall: changesCall, changesNames: changesNames, hasVerifiedLogo: taken.hasVerifiedLogo)
        }
        return taken
    }

    /// Weighs the facts of the INVITE against the directory's gates and the policy of route or trunk.
    private func decideBranding(
        of invite: SIPMessage, _ facts: CallFacts, _ identity: CallerIdentity, _ verification: Verification,
        _ isSpiral: Bool, _ trunk: TrunkPeer, _ called: borrowing CalledRoute, _ snapshot: BrandingSnapshot
    ) -> BrandingDecision {
        guard settings.brands, called.brands(on: trunk) != .off else { return .passThrough(.policy) }
        let evidence = CallEvidence(
            number: identity.number, privacy: identity.isWithheld, trunkTrusted: trunk.isTrusted,
            verification: verification, isInitialInvite: !invite.isInDialog, isEmergency: facts.isEmergency,
            isSpiral: isSpiral, hasReplaces: invite.has(.replaces))
        return decide(evidence, policy: called.policy(on: trunk), gates: snapshot.gates, index: snapshot.index)
    }
}

// MARK: - Stops beside the way of an INVITE

extension ProxyCore {
    /// Handles a request of a transaction in memory: CANCEL, ACK or a retransmission.
    private func handleRetransmission(
        _ transaction: GatewayTransaction, _ arrival: Arrival, from peer: GatewayTopology.Peer
    ) {
        if arrival.message.method == .cancel {
            // RFC 3261 §9.2: the CANCEL has its own response, whatever becomes of its INVITE; nothing else can be cancelled.
            respond(to: arrival, status: 200, phrase: "OK")
            if transaction.isPending {
                reporter.cancelled(transaction, by: arrival.message, at: arrival.now)
                transactions.cancel(transaction, with: arrival.message, at: arrival.now)
            }
            return
        }
        counters.add(.retransmissionsAbsorbed)
        if transactions.absorb(arrival.message, in: transaction, at: arrival.now) {
            if let refusal = RequestValidity.forwardingRefusal(of: arrival.message) { return refuse(arrival, refusal) }
            let marks = HopMarks(branch: transaction.branch, of: arrival.message, secret: settings.secret)
            forwardStatelessly(arrival, marks, from: peer)
        }
    }

    /// Whether a request has the reserve of memory, as large again as the memory of new calls.
    private func hasReserve(_ request: SIPMessage, from peer: GatewayTopology.Peer) -> Bool {
        request.isInDialog || request.method == .invite && peer.protects(request, in: settings.topology)
    }

    /// Whether an OPTIONS is for the gateway itself: without the gateway's own Route, the Request-URI is one of its addresses
    /// or names and has no user (RFC 3261 §11.2, §16.4).
    ///
    /// A PBX that asks for its carrier by way of the gateway must learn of the carrier.
    private func isForGateway(_ request: SIPMessage, from peer: GatewayTopology.Peer) -> Bool {
        guard !request.isInDialog else { return false }
        var unused = Splices()
        let routes = RouteSet(of: request, from: peer, settings, into: &unused)
        guard !routes.isRouted, let uri = routes.nextHop, uri.scheme != .tel, uri.user.isEmpty else { return false }
        return settings.topology.sockets.areNamed(host: uri.host, port: uri.port)
    }

    /// Responds to a health check: a trunk gets 503 while no target of its PBX is up, so that the carrier takes another way.
    ///
    /// Without Retry-After: the next OPTIONS decides.
    private func respondToOptions(_ arrival: Arrival, from peer: GatewayTopology.Peer) {
        counters.add(.optionsResponses)
        if case .trunk(let trunk) = peer, settings.reportsPBX,
            !settings.topology.isFit(trunk, at: arrival.now.milliseconds)
        {
            return respond(to: arrival, FailureResponse(503, "Service Unavailable"))
        }
        guard !shared.isDraining else {
            return respond(to: arrival, FailureResponse(503, "Service Unavailable", .retryAfter(seconds: 10)))
        }
        respond(to: arrival, status: 200, phrase: "OK", field: .allow)
    }

    /// Sends a rejection without keeping any state of it (RFC 3261 §16.11).
    func respond(to arrival: Arrival, _ refusal: FailureResponse) {
        transactions.outgoing.append(OwnResponse.message(to: arrival, refusal, secret: settings.secret))
    }

    private func respond(to arrival: Arrival, status: Int, phrase: StaticString, field: ResponseField? = nil) {
        transactions.outgoing.append(
            OwnResponse.message(to: arrival, status: status, phrase: phrase, field: field, secret: settings.secret))
    }
}
