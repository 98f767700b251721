// SPDX-License-Identifier: Apache-2.0

import Branding
public import Primitives

/// Writes the events of a call from its record; pure: the same record always gives the same event.
///
/// The key is `<outcome>:<call id>`. The directory takes a second event with one key for a repetition, so each outcome
/// of a call has its own key. A call without a known caller number has no events. `branding_applied` needs evidence
/// that a phone showed the name (`DisplayEvidence`). A call in shadow has no events. An event is written once, into the bytes that SQLite takes.
public struct EventMinter: Hashable, Sendable {
    public let vocabulary: EventVocabulary

    public init(vocabulary: EventVocabulary = .init()) {
        self.vocabulary = vocabulary
    }

    /// The event of an unbranded call, due once its INVITE has left; nearly always nil.
    public func passedThrough(_ record: CallRecord, callID: String, to text: inout TextBuffer) -> MintedEvent? {
        guard record.direction == .inbound, !record.isInShadow, let reason = record.reason else { return nil }
        if reason.isGate {
            return event(vocabulary.brandingDisabled, record, callID: callID, at: record.inviteAt, to: &text)
        }
        guard reason == .noMatch, isSampled(record.call) else { return nil }
        return event(vocabulary.noMatch, record, callID: callID, at: record.inviteAt, to: &text)
    }

    /// `displayed`: the name was shown; nil without evidence.
    public func displayed(_ record: CallRecord, callID: String, to text: inout TextBuffer) -> MintedEvent? {
        guard record.displayEvidence != nil, let at = record.reachedAt else { return nil }
        return event(vocabulary.displayed, record, callID: callID, at: at, to: &text)
    }

    /// The event of a branded call's end: `call_seen`, `missed`, or `error` when it failed before any phone alerted.
    public func ended(_ record: CallRecord, callID: String, to text: inout TextBuffer) -> MintedEvent? {
        guard record.isBranded, let outcome = record.outcome, let at = record.endedAt else { return nil }
        let word =
            switch outcome {
            case .missed, .busy: vocabulary.missed
            case .failed: vocabulary.error
            case .answered, .rejected, .blocked, .answeredElsewhere, .declinedElsewhere: vocabulary.callSeen
            }
        return event(word, record, callID: callID, at: at, to: &text)
    }

    /// `returned`: an outbound call to a brand reached it; key and call id are the original's.
    ///
    /// - Parameter latency: whole seconds from the end of the original to the outbound INVITE.
    public func returned(
        _ outbound: CallRecord, original: ReturnedOriginal, latency: Int, to text: inout TextBuffer
    ) -> MintedEvent {
        let at = outbound.reachedAt ?? outbound.inviteAt
        return write(
            vocabulary.returned, callID: original.callID, original.number, displayedAt: at,
            customer: outbound.customer, to: &text
        ) { meta in
            meta.field(",\"caller_number_e164\":\"", outbound.caller)
            meta.field(",\"destination_number_e164\":\"", original.number)
            meta.field(",\"observed_at_utc\":\"", time: at)
            meta.field(",\"branding_applied\":", true)
            meta.field(",\"branding_profile_id\":\"", original.brandID)
            meta.field(",\"identity_type\":\"", vocabulary.identityType)
            meta.field(",\"return_call_detected\":", true)
            meta.field(",\"return_call_latency_seconds\":", latency)
            meta.field(",\"sip_status\":", outbound.status == 0 ? nil : Int(outbound.status))
            meta.field(",\"trunk\":\"", outbound.trunk)
            meta.field(",\"original_event_id\":\"", original.eventID)
        }
    }

    /// Whether a call is in the reported share; decided by its identifier, so always the same.
    private func isSampled(_ call: CallIdentifier) -> Bool {
        Double(call.low >> 11) < vocabulary.noMatchShare * 0x1p53
    }

    private func event(
        _ word: String, _ record: CallRecord, callID: String, at time: Int64, to text: inout TextBuffer
    ) -> MintedEvent? {
        guard let number = record.caller else { return nil }
        let (evidence, outcome) = (record.displayEvidence, record.outcome)
        // The same for every event of one call: the time of the display, else the time of this event.
        let displayedAt = evidence == nil ? time : record.reachedAt ?? time
        return write(
            word, callID: callID, number, displayedAt: displayedAt, customer: record.customer, to: &text
        ) { meta in
            meta.field(",\"caller_number_e164\":\"", number)
            meta.field(",\"destination_number_e164\":\"", record.destination)
            meta.field(",\"observed_at_utc\":\"", time: time)
            meta.field(",\"branding_applied\":", evidence != nil)
            if record.isBranded {
                meta.field(",\"branding_profile_id\":\"", record.brandID)
                meta.field(",\"identity_type\":\"", vocabulary.identityType)
            }
            if let outcome {
                meta.field(",\"ring_duration_seconds\":", record.ringSeconds)
                meta.field(",\"call_duration_seconds\":", record.callSeconds)
                meta.field(",\"call_outcome\":\"", outcome.rawValue)
                meta.field(",\"return_call_detected\":", false)
            }
            meta.field(",\"display_evidence\":\"", evidence?.rawValue)
            meta.field(",\"decision\":\"", record.decision)
            meta.field(",\"sip_status\":", record.status == 0 ? nil : Int(record.status))
            meta.field(",\"q850_cause\":", record.q850Cause == 0 ? nil : Int(record.q850Cause))
            meta.field(",\"trunk\":\"", record.trunk)
            if record.isForwarded { meta.field(",\"forwarded\":", true) }
            if outcome != nil, let machine = record.answeredBy {
                if machine == .voicemail { meta.field(",\"voicemail\":", true) }
                meta.field(",\"answered_by\":\"", machine.rawValue)
            }
            if record.attempts > 1 { meta.field(",\"attempts\":", record.attempts) }
        }
    }

    /// Writes the texts of an event; `fields` writes those of `meta` after `call_event_id`.
    private func write(
        _ word: String, callID: String, _ number: E164Number, displayedAt: Int64, customer: String?,
        to text: inout TextBuffer, fields: (inout TextBuffer) -> Void
    ) -> MintedEvent {
        let key = text.place { key in
            key.append(word)
            key.append(UInt8(ascii: ":"))
            key.append(callID)
        }
        return MintedEvent(
            key: key, number: text.place { $0.append(number) }, surface: text.append(vocabulary.surface),
            displayedAt: text.place { $0.append(time: displayedAt) },
            meta: text.place { meta in
                meta.field("{\"call_event_id\":\"", callID)
                fields(&meta)
                meta.append(UInt8(ascii: "}"))
            }, customer: customer.map { text.append($0) })
    }
}
