// SPDX-License-Identifier: Apache-2.0

import Branding

/// Makes the events of a call from its record; pure: the same record always gives the same event.
///
/// The key is `<outcome>:<call id>`. The directory takes a second event with one key for a repetition, so each outcome
/// of a call has its own key. A call without a known caller number has no events. `branding_applied` needs evidence
/// that a phone showed the name (`DisplayEvidence`).
public struct EventMinter: Hashable, Sendable {
    public let vocabulary: EventVocabulary

    public init(vocabulary: EventVocabulary = .init()) {
        self.vocabulary = vocabulary
    }

    /// The event of an unbranded call, due once its INVITE has left; nearly always nil.
    public func passedThrough(_ record: CallRecord, callID: String) -> OutcomeEvent? {
        guard record.direction == .inbound, let reason = record.reason else { return nil }
        if reason.isGate {
            return event(vocabulary.brandingDisabled, record, callID: callID, at: record.inviteAt)
        }
        guard reason == .noMatch, isSampled(record.call) else { return nil }
        return event(vocabulary.noMatch, record, callID: callID, at: record.inviteAt)
    }

    /// `displayed`: the name was shown; nil without evidence.
    public func displayed(_ record: CallRecord, callID: String) -> OutcomeEvent? {
        guard record.displayEvidence != nil, let at = record.reachedAt else { return nil }
        return event(vocabulary.displayed, record, callID: callID, at: at)
    }

    /// The event of a branded call's end: `call_seen`, `missed`, or `error` when it failed before any phone alerted.
    public func ended(_ record: CallRecord, callID: String) -> OutcomeEvent? {
        guard record.isBranded, let outcome = record.outcome, let at = record.endedAt else { return nil }
        let word =
            switch outcome {
            case .missed, .busy: vocabulary.missed
            case .failed: vocabulary.error
            case .answered, .rejected, .blocked, .answeredElsewhere, .declinedElsewhere: vocabulary.callSeen
            }
        return event(word, record, callID: callID, at: at)
    }

    /// `returned`: an outbound call to a brand reached it; key and call id are the original's.
    ///
    /// - Parameter latency: whole seconds from the end of the original to the outbound INVITE.
    public func returned(_ outbound: CallRecord, original: ReturnedOriginal, latency: Int) -> OutcomeEvent {
        let at = UTCTimestamp.string(microseconds: outbound.reachedAt ?? outbound.inviteAt)
        var meta = OutcomeEvent.Meta()
        meta.callEventID = original.callID
        meta.callerNumber = outbound.caller?.description
        meta.destinationNumber = original.number.description
        meta.observedAt = at
        meta.brandingApplied = true
        meta.brandingProfileID = original.brandID
        meta.identityType = vocabulary.identityType
        meta.returnCallDetected = true
        meta.returnCallLatency = latency
        meta.trunk = outbound.trunk
        meta.sipStatus = outbound.status == 0 ? nil : Int(outbound.status)
        meta.originalEventID = original.eventID
        return OutcomeEvent(
            key: vocabulary.returned + ":" + original.callID, callID: original.callID,
            number: original.number.description, outcome: vocabulary.returned, surface: vocabulary.surface,
            displayedAt: at, meta: meta, customer: outbound.customer)
    }

    /// Whether a call is in the reported share; decided by its identifier, so always the same.
    private func isSampled(_ call: CallIdentifier) -> Bool {
        Double(call.low >> 11) < vocabulary.noMatchShare * 0x1p53
    }

    private func event(_ word: String, _ record: CallRecord, callID: String, at time: Int64) -> OutcomeEvent? {
        guard let number = record.caller?.description else { return nil }
        let at = UTCTimestamp.string(microseconds: time)
        let evidence = record.displayEvidence
        // The same for every event of one call: the time of the display, else the time of this event.
        let displayed = evidence == nil ? time : record.reachedAt ?? time
        let displayedAt = displayed == time ? at : UTCTimestamp.string(microseconds: displayed)
        return OutcomeEvent(
            key: word + ":" + callID, callID: callID, number: number, outcome: word, surface: vocabulary.surface,
            displayedAt: displayedAt, meta: meta(of: record, number, callID: callID, at: at, evidence),
            customer: record.customer)
    }

    private func meta(
        of record: CallRecord, _ number: String, callID: String, at: String, _ evidence: DisplayEvidence?
    ) -> OutcomeEvent.Meta {
        var meta = OutcomeEvent.Meta()
        meta.callEventID = callID
        meta.callerNumber = number
        meta.destinationNumber = record.destination?.description
        meta.observedAt = at
        meta.brandingApplied = evidence != nil
        if record.isBranded {
            meta.brandingProfileID = record.brandID
            meta.identityType = vocabulary.identityType
        }
        meta.displayEvidence = evidence?.rawValue
        meta.decision = record.decision
        meta.trunk = record.trunk
        meta.sipStatus = record.status == 0 ? nil : Int(record.status)
        meta.q850Cause = record.q850Cause == 0 ? nil : Int(record.q850Cause)
        meta.forwarded = record.isForwarded ? true : nil
        meta.attempts = record.attempts > 1 ? record.attempts : nil
        if let outcome = record.outcome {
            meta.answeredBy = record.answeredBy?.rawValue
            meta.voicemail = record.answeredBy == .voicemail ? true : nil
            meta.callOutcome = outcome.rawValue
            meta.ringDuration = record.ringSeconds
            meta.callDuration = record.callSeconds
            meta.returnCallDetected = false
        }
        return meta
    }
}
