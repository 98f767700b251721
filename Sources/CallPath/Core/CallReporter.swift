// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore

/// Reports the progress of calls to the accounting side: one memory store a report, without a wait.
///
/// Of a test call it reports nothing, and counts it among the calls in progress alone. Owned by the worker thread. The number
/// of a withheld caller is never reported, nor is the Call-ID, which may have it.
final class CallReporter {
    private let updates: UpdateRing
    private let calls: CallsInProgress
    /// Names the calls.
    private let secret: Secret
    private var spareTexts = CallTexts()

    init(updates: UpdateRing, calls: CallsInProgress, secret: Secret) {
        self.updates = updates
        self.calls = calls
        self.secret = secret
    }

    /// The identifier of the call that an initial INVITE begins.
    func identifier(of invite: SIPMessage, direction: CallUpdate.Direction) -> CallIdentifier {
        identifier(of: invite, tag: invite.fromTag, direction: direction)
    }

    /// The reporter by the secret that names the call of a dialog.
    private func named(by age: Int) -> CallReporter {
        guard age > 0, let secret = secret.aged(age) else { return self }
        return CallReporter(updates: updates, calls: calls, secret: secret)
    }

    /// Reports by every earlier secret as well: without a cookie or memory nothing shows which one names the call.
    private func alsoByEarlierSecrets(_ report: (CallReporter) -> Void) {
        guard let previous = secret.previous else { return }
        report(CallReporter(updates: updates, calls: calls, secret: previous))
    }

    private func identifier(
        of message: SIPMessage, tag: Range<Int>?, direction: CallUpdate.Direction
    ) -> CallIdentifier {
        var hash = secret.hash(for: .callName)
        if let callID = message.first(.callID) { hash.combine(callID.value, of: message) }
        if let tag { hash.combine(tag, of: message) }
        hash.combine(UInt64(direction.rawValue))
        let (high, low) = hash.finishWide()
        return CallIdentifier(high: high, low: low)
    }

    /// Reports an INVITE of a trunk as it is forwarded or rejected.
    func inboundInvite(
        _ context: borrowing InboundContext, _ decorated: DecoratedInvite, _ evidence: DecisionEvidence,
        _ settings: GatewaySettings
    ) {
        let (invite, trunk, identity) = (context.invite, context.trunk, context.identity)
        var update = CallUpdate(
            kind: .invite, direction: .inbound, call: context.call,
            wallMicroseconds: context.arrival.now.wallMicroseconds, trunk: trunk.mark,
            caller: identity.number?.digits ?? 0,
            destination: context.called.number?.digits ?? 0, reason: decorated.reason)
        update.marks = settings.answerers.marks(ofInvite: invite)
        update.evidence = evidence
        update.trust = TrustEvidence(context, decorated)
        // It may be the same for all calls of one customer (RFC 8588 §5).
        if identity.isWithheld { update.trust?.origid = nil }
        update.customer = context.called.customer?.mark ?? 0
        append(update, invite, isWithheld: identity.isWithheld, subscriber: context.called.uri?.user) { texts in
            if decorated.isDecorated {
                decorated.appendName(in: context.index, to: &texts.brandName)
                if let entry = decorated.entry { context.index.append(.brandID, of: entry, to: &texts.brandID) }
                if !texts.brandName.isEmpty {
                    texts.carrierName.append(contentsOf: CarrierNameText.replaced(in: invite, from: trunk))
                }
            } else if identity.number == nil, !identity.isWithheld {
                texts.callerReceived = ReceivedCaller.text(in: invite, isAsserted: identity.isAsserted)
            }
        }
    }

    /// Reports an INVITE of a PBX as it is forwarded.
    func outboundInvite(
        _ call: CallIdentifier, _ invite: SIPMessage, from pbx: PBXPeer, _ trunk: TrunkPeer, _ routes: CallRoutes,
        at now: Moment
    ) {
        let called = SIPURI(invite.bytes, invite.requestURI)
        let isWithheld = CallerPrivacy.isAsked(in: invite)
        let caller = isWithheld ? nil : invite.first(.from).flatMap { NameAddress(invite.bytes, $0.value)?.uri }
        let number = isWithheld ? nil : CalledNumber.caller(of: invite, caller, on: trunk)
        var update = CallUpdate(
            kind: .invite, direction: .outbound, call: call, wallMicroseconds: now.wallMicroseconds,
            trunk: trunk.mark, caller: number?.digits ?? 0,
            destination: called.flatMap { CallerIdentity.number(of: $0, trunk: trunk)?.digits } ?? 0,
            reason: .outbound)
        update.customer = routes.customer(ofCaller: number, at: pbx)?.mark ?? 0
        append(update, invite, isWithheld: isWithheld, subscriber: caller?.user) { _ in }
    }

    /// Appends the update of an INVITE with the texts that `write` adds, in buffers that the next one reuses.
    private func append(
        _ update: CallUpdate, _ invite: SIPMessage, isWithheld: Bool, subscriber: ArraySlice<UInt8>?,
        _ write: (inout CallTexts) -> Void
    ) {
        var texts = CallTexts()
        swap(&texts, &spareTexts)
        texts.clear()
        if let callID = invite.first(.callID).map({ invite[$0.value] }) {
            let kept = isWithheld ? WithheldCallID.name(of: callID, secret)[...] : callID
            texts.sipCallID.append(contentsOf: CallTexts.cut(kept, to: CallTexts.limits.sipCallID))
        }
        texts.subscriber.append(contentsOf: CallTexts.cut(subscriber ?? [], to: CallTexts.limits.subscriber))
        write(&texts)
        updates.append(update, texts: texts)
        swap(&texts, &spareTexts)
    }

    /// Reports a response to a call's INVITE: the first of its kind, and once a minute that it still rings.
    func responded(
        _ response: SIPMessage, in transaction: GatewayTransaction, _ settings: GatewaySettings, at now: Moment
    ) {
        guard let status = response.status else { return }
        guard let call = transaction.call else {
            if status / 100 == 2 { refreshed(response, transaction.dialog, at: now) }
            return
        }
        guard transaction.ownerState.markReported(status) || stillRings(status, transaction, at: now) else { return }
        transaction.ownerState.reportedAt = Self.seconds(now)
        if status >= 300 {
            let causes = ReasonCauses(of: response)
            let failure = failure(of: transaction, status: UInt16(status), causes)
            return failed(call, failure, transaction.dialog, at: now)
        }
        let isForked = status >= 200 && calls.answered(call)
        guard !transaction.dialog.isTest else { return }
        responded(
            response, status: status, call: call,
            direction: transaction.dialog.isInbound ? .inbound : .outbound, isBranded: transaction.dialog.isBranded,
            calledMark: isForked ? calledMark(of: transaction, in: call, settings, at: now) : 0, settings, at: now)
    }

    /// The mark of the called party of an inbound INVITE: the parties of a forked call differ.
    private func calledMark(
        of transaction: GatewayTransaction, in call: CallIdentifier, _ settings: GatewaySettings, at now: Moment
    ) -> UInt32 {
        guard transaction.dialog.isInbound, let invite = transaction.pendingRequest,
            let trunk = settings.topology.trunk(mark: transaction.dialog.trunk, at: now)
        else { return 0 }
        let called = CalledRoute(of: invite, on: trunk, settings.topology.routes)
        return mark(of: called.number, called.uri?.user, in: call)
    }

    private func mark(of number: E164Number?, _ user: ArraySlice<UInt8>?, in call: CallIdentifier) -> UInt32 {
        let user = CallTexts.cut(user ?? [], to: CallTexts.limits.subscriber)
        let name = number?.description ?? String(decoding: user, as: UTF8.self)
        return call.mark(ofCalled: name)
    }

    /// The mark of the party that a 2xx without a transaction names: the connected one, else that of Contact.
    ///
    /// It counts only if the call has rung a party of that name.
    private func calledMark(of success: SIPMessage, to trunk: TrunkPeer, in call: CallIdentifier) -> UInt32 {
        let field = success.first(.pAssertedIdentity) ?? success.first(.contact)
        guard let field, let value = HeaderValues(success.bytes, field.value).first(where: { _ in true }),
            let uri = SIPURI(success.bytes, NameAddressExtent.scan(success.bytes, value).uri)
        else { return 0 }
        return mark(of: CallerIdentity.number(of: uri, trunk: trunk), uri.user, in: call)
    }

    /// Reports the 2xx to a session refresh, an INVITE or UPDATE inside the dialog, with the session's new duration.
    ///
    /// Without Session-Expires it switches the session timer off (RFC 4028 §7.2). The response does not show whether caller
    /// or callee sent the request, so the report has the identifiers of both cases.
    private func refreshed(_ response: SIPMessage, _ dialog: DialogFacts, at now: Moment) {
        guard !dialog.isTest, let sequence = response.sequence else { return }
        let method = response[sequence.method]
        guard SIPMethod.recognise(method) == .invite || method.elementsEqual("UPDATE".utf8) else { return }
        alsoByEarlierSecrets { $0.refreshed(response, dialog, at: now) }
        let direction = dialog.isInbound ? CallUpdate.Direction.inbound : .outbound
        var update = CallUpdate(
            kind: .refreshed, direction: direction,
            call: identifier(of: response, tag: response.fromTag, direction: direction),
            counterpart: .callIfSentByCallee(identifier(of: response, tag: response.toTag, direction: direction)),
            wallMicroseconds: now.wallMicroseconds, reason: dialog.isBranded ? nil : .noMatch)
        update.sessionSeconds = SessionExpires.seconds(of: response)
        updates.append(update)
    }

    /// Reports a response to an INVITE without a transaction, as after a restart; the call is identified by the message.
    ///
    /// - Parameter upstream: the peer that gets the response.
    func respondedStatelessly(
        _ response: SIPMessage, to upstream: GatewayTopology.Peer, fromTrunk: Bool, _ settings: GatewaySettings,
        at now: Moment
    ) {
        guard let status = response.status, let sequence = response.sequence,
            SIPMethod.recognise(response[sequence.method]) == .invite
        else { return }
        alsoByEarlierSecrets {
            $0.respondedStatelessly(response, to: upstream, fromTrunk: fromTrunk, settings, at: now)
        }
        let direction = fromTrunk ? CallUpdate.Direction.outbound : .inbound
        let call = identifier(of: response, direction: direction)
        var calledMark: UInt32 = 0
        if status / 100 == 2, !fromTrunk, case .trunk(let trunk) = upstream {
            calledMark = self.calledMark(of: response, to: trunk, in: call)
        }
        responded(
            response, status: status, call: call, direction: direction, isBranded: true, calledMark: calledMark,
            settings, at: now)
    }

    private func responded(
        _ response: SIPMessage, status: Int, call: CallIdentifier, direction: CallUpdate.Direction, isBranded: Bool,
        calledMark: UInt32, _ settings: GatewaySettings, at now: Moment
    ) {
        let causes = ReasonCauses(of: response)
        let kind: CallUpdate.Kind = status < 200 ? .provisional : status < 300 ? .answered : .failed
        var update = CallUpdate(
            kind: kind, direction: direction, call: call, wallMicroseconds: now.wallMicroseconds,
            status: UInt16(status), q850Cause: causes.q850, sipCause: causes.sip, reason: isBranded ? nil : .noMatch)
        if kind == .answered {
            update.sessionSeconds = SessionExpires.seconds(of: response)
            update.calledMark = calledMark
            update.counterpart = .answererDialog(identifier(of: response, tag: response.toTag, direction: direction))
            if direction == .inbound { update.marks = settings.answerers.marks(ofResponse: response) }
        }
        updates.append(update)
    }

    /// Whether the call of this INVITE rings, as a sibling gateway reports.
    func ringsElsewhere(_ transaction: GatewayTransaction) -> Bool {
        guard let call = transaction.call else { return false }
        return calls.ringsElsewhere(call)
    }

    /// Whether this INVITE of a call got its final response through a sibling gateway.
    func isDecidedElsewhere(_ transaction: GatewayTransaction) -> Bool {
        guard let call = transaction.call else { return false }
        return calls.isDecidedElsewhere(call)
    }

    /// Reports a response that cannot be forwarded, for which the caller gets 502.
    func unusable(_ transaction: GatewayTransaction, at now: Moment) { failed(transaction, 502, at: now) }

    func timedOut(_ transaction: GatewayTransaction, at now: Moment) { failed(transaction, 408, at: now) }

    /// Reports that no target could be reached, or none is up.
    func unreachable(_ transaction: GatewayTransaction, at now: Moment) { failed(transaction, 503, at: now) }

    private func failed(_ transaction: GatewayTransaction, _ status: UInt16, at now: Moment) {
        guard let call = transaction.call, transaction.ownerState.markReported(Int(status)) else { return }
        var failure = failure(of: transaction, status: status, ReasonCauses())
        failure.isOwn = true
        failed(call, failure, transaction.dialog, at: now)
    }

    /// The final response of one branch of a call.
    private func failure(of transaction: GatewayTransaction, status: UInt16, _ causes: ReasonCauses) -> CallFailure {
        var failure = CallFailure(status: status, q850Cause: causes.q850, sipCause: causes.sip)
        let facts = transaction.ownerState
        (failure.rang, failure.alerted, failure.isCancelled) = (facts.hasRung, facts.hasAlerted, facts.isCancelled)
        return failure
    }

    /// Reports that the gateway has rejected a call, which went to no target.
    func rejected(_ call: CallIdentifier, status: UInt16, at now: Moment) {
        var update = CallUpdate(
            kind: .failed, direction: .inbound, call: call, wallMicroseconds: now.wallMicroseconds, status: status,
            reason: .noMatch)
        update.isOwn = true
        updates.append(update)
    }

    /// Takes back a branch of an inbound call that the gateway has rejected: it is a call of its own in the accounts.
    ///
    /// Reports the end of the call if its other branches have failed meanwhile, on other workers.
    func withdrawn(_ call: CallIdentifier, isTest: Bool, at now: Moment) {
        guard let failure = calls.withdraw(call), !isTest else { return }
        ended(call, failure, direction: .inbound, isBranded: true, at: now)
    }

    /// Reports that a call failed, once its last branch has.
    private func failed(_ call: CallIdentifier, _ failure: CallFailure, _ dialog: DialogFacts, at now: Moment) {
        guard let failure = calls.failed(call, failure), !dialog.isTest else { return }
        ended(
            call, failure, direction: dialog.isInbound ? .inbound : .outbound, isBranded: dialog.isBranded, at: now)
    }

    private func ended(
        _ call: CallIdentifier, _ failure: CallFailure, direction: CallUpdate.Direction, isBranded: Bool, at now: Moment
    ) {
        var update = CallUpdate(
            kind: .failed, direction: direction, call: call, wallMicroseconds: now.wallMicroseconds,
            status: failure.status, q850Cause: failure.q850Cause, sipCause: failure.sipCause,
            reason: isBranded ? nil : .noMatch)
        update.isOwn = failure.isOwn
        updates.append(update)
    }

    func cancelled(_ transaction: GatewayTransaction, by cancel: SIPMessage, at now: Moment) {
        guard let call = transaction.call, !transaction.ownerState.isCancelled else { return }
        transaction.ownerState.markCancelled()
        // A proxy that gives up one of several phones cancels its branch alone.
        guard calls.cancelled(call), !transaction.dialog.isTest else { return }
        cancelled(
            call, by: cancel,
            direction: transaction.dialog.isInbound ? .inbound : .outbound, isBranded: transaction.dialog.isBranded,
            at: now)
    }

    /// Reports a CANCEL without its INVITE's transaction, as after a restart; the call is identified by the message.
    ///
    /// Only the CANCEL shows that another phone took the call; the 487 that follows does not. The CANCEL of a peer outside
    /// the call is ignored.
    func cancelledWithoutMemory(_ cancel: SIPMessage, from peer: GatewayTopology.Peer, at now: Moment) {
        guard !peer.isTest else { return }
        alsoByEarlierSecrets { $0.cancelledWithoutMemory(cancel, from: peer, at: now) }
        let direction = peer.isTrunk ? CallUpdate.Direction.inbound : .outbound
        let call = identifier(of: cancel, direction: direction)
        guard calls.mayBe(call, of: peer) else { return }
        cancelled(call, by: cancel, direction: direction, isBranded: true, at: now)
    }

    private func cancelled(
        _ call: CallIdentifier, by cancel: SIPMessage, direction: CallUpdate.Direction, isBranded: Bool, at now: Moment
    ) {
        let causes = ReasonCauses(of: cancel)
        updates.append(
            CallUpdate(
                kind: .cancelled, direction: direction, call: call, wallMicroseconds: now.wallMicroseconds,
                q850Cause: causes.q850, sipCause: causes.sip, reason: isBranded ? nil : .noMatch))
    }

    /// Reports a BYE.
    ///
    /// The originator's tag identifies the call; it is in From or in To. Without a cookie the report has both identifiers.
    /// With a cookie the second identifier has the other tag, which identifies the fork that answered. The BYE of a peer
    /// outside the call is ignored.
    func bye(_ bye: SIPMessage, dialog: DialogFacts?, from peer: GatewayTopology.Peer, at now: Moment) {
        if let dialog {
            named(by: dialog.sealAge).reportBye(bye, dialog: dialog, from: peer, at: now)
        } else {
            alsoByEarlierSecrets { $0.bye(bye, dialog: nil, from: peer, at: now) }
            reportBye(bye, dialog: nil, from: peer, at: now)
        }
    }

    private func reportBye(_ bye: SIPMessage, dialog: DialogFacts?, from peer: GatewayTopology.Peer, at now: Moment) {
        let fromTrunk = peer.isTrunk
        let ifOriginator = fromTrunk ? CallUpdate.Direction.inbound : .outbound
        let ifRecipient = fromTrunk ? CallUpdate.Direction.outbound : .inbound
        let isOriginator = dialog.map { $0.isInbound == fromTrunk } ?? true
        let direction = isOriginator ? ifOriginator : ifRecipient
        let (own, other) = isOriginator ? (bye.fromTag, bye.toTag) : (bye.toTag, bye.fromTag)
        let call = identifier(of: bye, tag: own, direction: direction)
        let counterpart = identifier(of: bye, tag: other, direction: dialog == nil ? ifRecipient : direction)
        // A sealed cookie shows that the dialog is the sender's.
        guard dialog != nil || calls.mayBe(call, of: peer) && calls.mayBe(counterpart, of: peer) else { return }
        defer {
            calls.end(call)
            if dialog == nil { calls.end(counterpart) }
        }
        guard dialog?.isTest != true, !peer.isTest else { return }
        let causes = ReasonCauses(of: bye)
        let update = CallUpdate(
            kind: .bye, direction: direction, call: call,
            counterpart: dialog == nil ? .callIfSentByCallee(counterpart) : .answererDialog(counterpart),
            wallMicroseconds: now.wallMicroseconds, q850Cause: causes.q850, sipCause: causes.sip,
            reason: dialog.map { $0.isBranded ? nil : .noMatch } ?? nil)
        updates.append(update)
    }

    /// True for a repeated 1xx when the last report is a minute old, the interval of RFC 3261 §13.3.1.1.
    ///
    /// So the accounts distinguish a long ringing from a call whose end was lost.
    private func stillRings(_ status: Int, _ transaction: GatewayTransaction, at now: Moment) -> Bool {
        (101..<200).contains(status) && !transaction.ownerState.hasAnswered
            && Self.seconds(now) &- transaction.ownerState.reportedAt >= 60
    }

    private static func seconds(_ now: Moment) -> UInt32 { UInt32(truncatingIfNeeded: now.milliseconds / 1000) }
}
