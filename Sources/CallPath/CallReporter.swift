// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore

/// Turns what happens on the call path into signals for the outcome side: one memory store each, nothing waited for.
///
/// Owned by the worker thread. A withheld caller's number never gets here.
struct CallReporter {
    let signals: SignalRing
    let calls: CallsInProgress
    let secret: Secret

    /// The name of the call an initial INVITE opens.
    func identifier(of invite: SIPMessage, direction: CallSignal.Direction) -> CallIdentifier {
        identifier(of: invite, tag: invite.fromTag, direction: direction)
    }

    private func identifier(
        of message: SIPMessage, tag: Range<Int>?, direction: CallSignal.Direction
    ) -> CallIdentifier {
        var hash = secret.hash(for: .callName)
        if let callID = message.first(.callID) { hash.combine(callID.value, of: message) }
        if let tag { hash.combine(tag, of: message) }
        hash.combine(UInt64(direction.rawValue))
        let (high, low) = hash.finishWide()
        return CallIdentifier(high: high, low: low)
    }

    func inboundInvite(
        _ call: CallIdentifier, _ invite: SIPMessage, _ identity: CallerIdentity, _ trunk: TrunkPeer,
        _ reason: PassThroughReason?, _ entry: BrandEntry?, _ index: BrandIndex, _ settings: GatewaySettings,
        at now: Moment
    ) {
        let called = SIPURI(invite.bytes, invite.requestURI)
        var texts = CallTexts(
            sipCallID: cut(invite.first(.callID).map { invite[$0.value] }, 160), subscriber: cut(called?.user, 64))
        if let entry {
            index.append(.name, of: entry, to: &texts.brandName)
            index.append(.brandID, of: entry, to: &texts.brandID)
            texts.carrierName = CarrierNameText.replaced(in: invite, from: trunk)
        } else if identity.number == nil, !identity.isWithheld {
            texts.callerReceived = ReceivedCaller.text(in: invite, isAsserted: identity.isAsserted)
        }
        var signal = CallSignal(
            kind: .invite, direction: .inbound, call: call, wallMicroseconds: now.wallMicroseconds,
            trunk: trunk.mark, caller: identity.number?.digits ?? 0,
            destination: CalledNumber.of(invite, called, on: trunk)?.digits ?? 0, reason: reason)
        signal.marks = settings.answerers.marks(ofInvite: invite)
        signals.append(signal, texts: texts)
    }

    func outboundInvite(_ call: CallIdentifier, _ invite: SIPMessage, _ trunk: TrunkPeer, at now: Moment) {
        let called = SIPURI(invite.bytes, invite.requestURI)
        let isWithheld = CallerPrivacy.isAsked(in: invite)
        let caller = isWithheld ? nil : invite.first(.from).flatMap { NameAddress(invite.bytes, $0.value)?.uri }
        let texts = CallTexts(
            sipCallID: cut(invite.first(.callID).map { invite[$0.value] }, 160), subscriber: cut(caller?.user, 64))
        let signal = CallSignal(
            kind: .invite, direction: .outbound, call: call, wallMicroseconds: now.wallMicroseconds,
            trunk: trunk.mark,
            caller: isWithheld ? 0 : CalledNumber.caller(of: invite, caller, on: trunk)?.digits ?? 0,
            destination: called.flatMap { CallerIdentity.number(of: $0, trunk: trunk)?.digits } ?? 0,
            reason: .outbound)
        signals.append(signal, texts: texts)
    }

    /// A response of the target to a call's INVITE; of repeats only the first is told, and once a minute that it still rings.
    func answered(
        _ response: SIPMessage, in transaction: ProxyTransaction, _ settings: GatewaySettings, at now: Moment
    ) {
        guard let status = response.status else { return }
        guard transaction.call != (0, 0) else {
            if status / 100 == 2 { refreshed(response, transaction.note, at: now) }
            return
        }
        guard isNew(status, transaction) || stillRings(status, transaction, at: now) else { return }
        transaction.reportedAt = Self.seconds(now)
        let call = CallIdentifier(high: transaction.call.high, low: transaction.call.low)
        if status >= 300 {
            let causes = ReasonCauses(of: response)
            let failure = CallFailure(status: UInt16(status), q850Cause: causes.q850, sipCause: causes.sip)
            return failed(call, failure, transaction.note, at: now)
        }
        if status >= 200 { calls.answered(call) }
        answered(
            response, status: status, call: call,
            direction: transaction.note.isInbound ? .inbound : .outbound, isBranded: transaction.note.isBranded,
            settings, at: now)
    }

    /// A 2xx to a session refresh, an INVITE or UPDATE inside the dialog: it alone says how long the session lives on.
    ///
    /// One without Session-Expires switches the session timer off (RFC 4028 §7.2). Who sent the request, the originator of the
    /// call or its recipient, the response does not show: both are given.
    private func refreshed(_ response: SIPMessage, _ note: DialogNote, at now: Moment) {
        guard let sequence = response.sequence else { return }
        let method = response[sequence.method]
        guard SIPMethod.recognise(method) == .invite || method.elementsEqual("UPDATE".utf8) else { return }
        let direction = note.isInbound ? CallSignal.Direction.inbound : .outbound
        var signal = CallSignal(
            kind: .refreshed, direction: direction,
            call: identifier(of: response, tag: response.fromTag, direction: direction),
            counterpart: .callIfSentByCallee(identifier(of: response, tag: response.toTag, direction: direction)),
            wallMicroseconds: now.wallMicroseconds, reason: note.isBranded ? nil : .noMatch)
        signal.sessionSeconds = SessionExpires.seconds(of: response)
        signals.append(signal)
    }

    /// A response to an INVITE that memory does not know, after a restart: the message itself names the call.
    func answeredWithoutMemory(_ response: SIPMessage, fromTrunk: Bool, _ settings: GatewaySettings, at now: Moment) {
        guard let status = response.status, let sequence = response.sequence,
            SIPMethod.recognise(response[sequence.method]) == .invite
        else { return }
        let direction = fromTrunk ? CallSignal.Direction.outbound : .inbound
        answered(
            response, status: status, call: identifier(of: response, direction: direction), direction: direction,
            isBranded: true, settings, at: now)
    }

    private func answered(
        _ response: SIPMessage, status: Int, call: CallIdentifier, direction: CallSignal.Direction, isBranded: Bool,
        _ settings: GatewaySettings, at now: Moment
    ) {
        let causes = ReasonCauses(of: response)
        let kind: CallSignal.Kind = status < 200 ? .provisional : status < 300 ? .answered : .failed
        var signal = CallSignal(
            kind: kind, direction: direction, call: call, wallMicroseconds: now.wallMicroseconds,
            status: UInt16(status), q850Cause: causes.q850, sipCause: causes.sip, reason: isBranded ? nil : .noMatch)
        if kind == .answered {
            signal.sessionSeconds = SessionExpires.seconds(of: response)
            signal.counterpart = .answererDialog(identifier(of: response, tag: response.toTag, direction: direction))
            if direction == .inbound { signal.marks = settings.answerers.marks(ofAnswer: response) }
        }
        signals.append(signal)
    }

    func timedOut(_ transaction: ProxyTransaction, at now: Moment) { failed(transaction, 408, at: now) }

    /// No target could be reached, or none is up.
    func unreachable(_ transaction: ProxyTransaction, at now: Moment) { failed(transaction, 503, at: now) }

    private func failed(_ transaction: ProxyTransaction, _ status: UInt16, at now: Moment) {
        guard transaction.call != (0, 0), isNew(Int(status), transaction) else { return }
        let call = CallIdentifier(high: transaction.call.high, low: transaction.call.low)
        failed(call, CallFailure(status: status), transaction.note, at: now)
    }

    /// A branch of a call is over without success, and with the last one the call.
    private func failed(_ call: CallIdentifier, _ failure: CallFailure, _ note: DialogNote, at now: Moment) {
        guard let failure = calls.failed(call, failure) else { return }
        signals.append(
            CallSignal(
                kind: .failed, direction: note.isInbound ? .inbound : .outbound, call: call,
                wallMicroseconds: now.wallMicroseconds, status: failure.status, q850Cause: failure.q850Cause,
                sipCause: failure.sipCause, reason: note.isBranded ? nil : .noMatch))
    }

    func cancelled(_ transaction: ProxyTransaction, by cancel: SIPMessage, at now: Moment) {
        guard transaction.call != (0, 0), transaction.reported & 0x80 == 0 else { return }
        transaction.reported |= 0x80
        cancelled(
            CallIdentifier(high: transaction.call.high, low: transaction.call.low), by: cancel,
            direction: transaction.note.isInbound ? .inbound : .outbound, isBranded: transaction.note.isBranded,
            at: now)
    }

    /// A CANCEL of an INVITE that memory does not know, after a restart: the message itself names the call.
    ///
    /// Only it says that another phone took the call; the 487 that follows does not.
    ///
    /// One of another peer says nothing of a call that is in progress between others.
    func cancelledWithoutMemory(_ cancel: SIPMessage, from peer: GatewayTopology.Peer, at now: Moment) {
        let direction = peer.isTrunk ? CallSignal.Direction.inbound : .outbound
        let call = identifier(of: cancel, direction: direction)
        guard calls.mayBe(call, of: peer) else { return }
        cancelled(call, by: cancel, direction: direction, isBranded: true, at: now)
    }

    private func cancelled(
        _ call: CallIdentifier, by cancel: SIPMessage, direction: CallSignal.Direction, isBranded: Bool, at now: Moment
    ) {
        let causes = ReasonCauses(of: cancel)
        signals.append(
            CallSignal(
                kind: .cancelled, direction: direction, call: call, wallMicroseconds: now.wallMicroseconds,
                q850Cause: causes.q850, sipCause: causes.sip, reason: isBranded ? nil : .noMatch))
    }

    /// A BYE names its call by the originator's tag, which is in From or in To: without a note both are given, with one
    /// the other tag, which tells whose answer the dialog was made by.
    ///
    /// One of another peer ends no call that is in progress between others.
    func bye(_ bye: SIPMessage, note: DialogNote?, from peer: GatewayTopology.Peer, at now: Moment) {
        let fromTrunk = peer.isTrunk
        let ifOriginator = fromTrunk ? CallSignal.Direction.inbound : .outbound
        let ifRecipient = fromTrunk ? CallSignal.Direction.outbound : .inbound
        let isOriginator = note.map { $0.isInbound == fromTrunk } ?? true
        let direction = isOriginator ? ifOriginator : ifRecipient
        let (own, other) = isOriginator ? (bye.fromTag, bye.toTag) : (bye.toTag, bye.fromTag)
        let call = identifier(of: bye, tag: own, direction: direction)
        let counterpart = identifier(of: bye, tag: other, direction: note == nil ? ifRecipient : direction)
        // A sealed note shows that the dialog is the sender's.
        guard note != nil || calls.mayBe(call, of: peer) && calls.mayBe(counterpart, of: peer) else { return }
        let causes = ReasonCauses(of: bye)
        let signal = CallSignal(
            kind: .bye, direction: direction, call: call,
            counterpart: note == nil ? .callIfSentByCallee(counterpart) : .answererDialog(counterpart),
            wallMicroseconds: now.wallMicroseconds, q850Cause: causes.q850, sipCause: causes.sip,
            reason: note.map { $0.isBranded ? nil : .noMatch } ?? nil)
        signals.append(signal)
        calls.end(either: call, or: note == nil ? counterpart : nil)
    }

    private static let answeredBit: UInt8 = 32

    /// True once a 2xx of any target was told: the call goes on whatever else is said of its INVITE.
    private func hasAnswered(_ transaction: ProxyTransaction) -> Bool { transaction.reported & Self.answeredBit != 0 }

    /// True the first time a status class is seen: 180 (bit 0), 181 (1), 182 (2), 183 (3), other 1xx (4), 2xx (5), final (6).
    private func isNew(_ status: Int, _ transaction: ProxyTransaction) -> Bool {
        let bit: UInt8 =
            switch status {
            case 180: 1
            case 181: 2
            case 182: 4
            case 183: 8
            case ..<200: 16
            case ..<300: Self.answeredBit
            default: 64
            }
        // After a 2xx nothing else counts; after a failure only a 2xx that crossed it does (RFC 3261 §16.7 step 5).
        if transaction.reported & bit != 0 || hasAnswered(transaction) { return false }
        transaction.reported |= bit
        return true
    }

    /// True for a repeated 1xx once nothing has been told for a minute, the pause the phone itself keeps (RFC 3261 §13.3.1.1):
    /// by it the accounts know a long ringing from a call whose end was lost.
    private func stillRings(_ status: Int, _ transaction: ProxyTransaction, at now: Moment) -> Bool {
        (101..<200).contains(status) && !hasAnswered(transaction)
            && Self.seconds(now) &- transaction.reportedAt >= 60
    }

    private static func seconds(_ now: Moment) -> UInt32 { UInt32(truncatingIfNeeded: now.milliseconds / 1000) }

    private func cut(_ bytes: ArraySlice<UInt8>?, _ length: Int) -> [UInt8] { Array((bytes ?? []).prefix(length)) }
}

/// The causes a Reason header gives (RFC 3326 §2): `Q.850;cause=16`, `SIP;cause=200`.
struct ReasonCauses {
    private(set) var q850: UInt16 = 0
    private(set) var sip: UInt16 = 0

    init(of message: SIPMessage) {
        guard message.has(.reason) else { return }
        for field in message.headers where field.name == .reason {
            for value in HeaderValues(message.bytes, field.value) {
                let semicolon = message[value].firstIndex(of: UInt8(ascii: ";")) ?? value.upperBound
                guard let range = HeaderParameters.find("cause", in: message.bytes, semicolon..<value.upperBound),
                    let number = DecimalNumber.read(message.bytes, range), let cause = UInt16(exactly: number)
                else { continue }
                if isOfAnalytics(message, semicolon..<value.upperBound) {
                    sip = 608
                    return
                }
                let reasonProtocol = message[Blank.trimmedEnd(message.bytes, value.lowerBound..<semicolon)]
                if reasonProtocol.equalsIgnoringCase("Q.850") { q850 = cause }
                if reasonProtocol.equalsIgnoringCase("SIP") { sip = cause }
            }
        }
    }

    /// Whether a network's analytics blocked the call, which ATIS-1000099 says with 603 and a text where RFC 8688 has 608.
    private func isOfAnalytics(_ message: SIPMessage, _ parameters: Range<Int>) -> Bool {
        guard let text = HeaderParameters.find("text", in: message.bytes, parameters) else { return false }
        return message[text].drop { $0 == UInt8(ascii: "\"") }.prefix(12).equalsIgnoringCase("v=analytics1")
    }
}
