// SPDX-License-Identifier: Apache-2.0

package import Branding

/// What is known of one call: filled signal by signal, stored as one row of the ledger.
///
/// Times are wall clock, microseconds since 1970. Of a withheld caller there is neither number nor name in it.
package struct CallRecord: Hashable, Sendable {
    package private(set) var call: CallIdentifier
    package let direction: CallSignal.Direction
    private var origin: Origin
    /// The caller; nil when withheld or unclear.
    package var caller: E164Number?
    /// The caller as the carrier wrote it, where that is no certain number; nil when withheld.
    package var callerReceived: String?
    /// The called number; nil when unclear.
    package var destination: E164Number?
    /// Nil when the INVITE left with a brand.
    package var reason: PassThroughReason?
    package var inviteAt: Int64
    /// First 182 or 183.
    package var progressAt: Int64?
    /// First 180.
    package var ringingAt: Int64?
    /// First 2xx.
    package var answeredAt: Int64?
    package var cancelledAt: Int64?
    /// When the last word was said: BYE, CANCEL, final answer; nil while the call is open.
    package var endedAt: Int64?
    /// When it was refused in a way that asks for another try (401, 407, …); nil once that came.
    package var refusedAt: Int64?
    /// Last status that mattered; 0 when none came.
    package var status: UInt16 = 0
    package var q850Cause: UInt16 = 0
    package var sipCause: UInt16 = 0
    /// INVITEs it took: 1, or more after a challenge or where the carrier tried again.
    package var attempts: Int = 1
    /// Another place was rung or asked in this one's stead: Diversion, History-Info, 181, 3xx.
    package var isForwarded = false
    /// What answers, or would, where the configuration knows it for a machine.
    package var machine: CallAnswerer?
    /// When the session ends unless it is refreshed (RFC 4028); nil without a session timer.
    package var sessionUntil: Int64?
    /// The call and the SIP Call-ID by which its present attempt is known, where they are not those it began with; the Call-ID
    /// is empty where only the first is another.
    package var attempt: (call: CallIdentifier, sipCallID: String)? {
        get { attemptCall.map { ($0, attemptSIPCallID) } }
        set { (attemptCall, attemptSIPCallID) = (newValue?.call, newValue?.sipCallID ?? "") }
    }
    private var attemptCall: CallIdentifier?
    private var attemptSIPCallID = ""
    /// Nil while the call is open.
    package var outcome: CallOutcome?
    /// False when the end was not seen but assumed: there is no call duration then.
    package var endIsKnown = true

    package init(
        call: CallIdentifier, direction: CallSignal.Direction, sipCallID: String = "", trunk: String? = nil,
        caller: E164Number? = nil, destination: E164Number? = nil, subscriber: String = "", brandID: String? = nil,
        brandName: String? = nil, carrierName: String? = nil, reason: PassThroughReason? = nil, inviteAt: Int64
    ) {
        self.call = call
        self.direction = direction
        origin = Origin(
            sipCallID: sipCallID, trunk: trunk, subscriber: subscriber, brandID: brandID, brandName: brandName,
            carrierName: carrierName)
        self.caller = caller
        self.destination = destination
        self.reason = reason
        self.inviteAt = inviteAt
    }

    /// Begins the record of an `invite` signal.
    ///
    /// - Parameter trunk: the configured name of the signal's trunk.
    package init(_ signal: CallSignal, texts: CallTexts?, trunk: String?) {
        let isBranded = signal.isBranded
        // The call path leaves a withheld number out; if it ever did not, it ends here.
        let caller = signal.reason == .privacy ? nil : E164Number(digits: signal.caller)
        self.init(
            call: signal.call, direction: signal.direction, sipCallID: Self.text(texts?.sipCallID) ?? "", trunk: trunk,
            caller: caller, destination: E164Number(digits: signal.destination),
            subscriber: Self.text(texts?.subscriber) ?? "", brandID: isBranded ? Self.text(texts?.brandID) : nil,
            brandName: isBranded ? Self.text(texts?.brandName) : nil,
            carrierName: isBranded ? Self.text(texts?.carrierName) : nil, reason: signal.reason,
            inviteAt: signal.wallMicroseconds)
        isForwarded = signal.marks.contains(.forwarded)
        machine = signal.marks.machine
        // The call path leaves a withheld caller out here too.
        if direction == .inbound, !isBranded, caller == nil, signal.reason != .privacy {
            callerReceived = Self.text(texts?.callerReceived)
        }
    }

    package var sipCallID: String { origin.sipCallID }
    /// Configured name of the trunk; nil if the configuration no longer has it.
    package var trunk: String? { origin.trunk }
    /// The PBX user that was called (inbound) or calls (outbound); empty when unknown.
    package var subscriber: String { origin.subscriber }
    /// Identifier of the brand shown; nil when the INVITE left without one.
    package var brandID: String? { origin.brandID }
    package var brandName: String? { origin.brandName }
    /// The name the carrier had sent, where the brand's took its place.
    package var carrierName: String? { origin.carrierName }

    /// Whom it is to: the called number, else the PBX user; empty when neither is known.
    package var called: String { destination?.description ?? subscriber }

    /// The name signals know it by: of its latest attempt.
    package var name: CallIdentifier { attempt?.call ?? call }

    /// Becomes a call of its own where another destination has been called by its name before.
    package mutating func becomeAnother() {
        attempt = (call, "")
        call = call.toward(called)
    }

    /// When the last word of it was said.
    var lastHeardAt: Int64 {
        func later(_ last: Int64, _ time: Int64?) -> Int64 { max(last, time ?? last) }
        let untilAnswer = later(later(later(inviteAt, progressAt), ringingAt), answeredAt)
        return later(later(later(untilAnswer, cancelledAt), refusedAt), endedAt)
    }

    /// Tells its times by a wall clock that was set meanwhile, by so many microseconds; how long things took stays.
    mutating func clockWasSet(by step: Int64) {
        inviteAt &+= step
        progressAt? &+= step
        ringingAt? &+= step
        answeredAt? &+= step
        cancelledAt? &+= step
        refusedAt? &+= step
        sessionUntil? &+= step
    }

    /// True when the call's inbound INVITE left with a brand.
    package var isBranded: Bool { direction == .inbound && reason == nil }

    /// When the phone began to alert: the first 180, else the first 182 or 183.
    package var alertedAt: Int64? { ringingAt ?? progressAt }

    /// What answered, where it was no person; nil while unanswered.
    package var answeredBy: CallAnswerer? { answeredAt == nil ? nil : machine }

    /// What proves that the name was shown: an alerting phone or an answer, after an INVITE that left with it.
    ///
    /// A machine's answer proves nothing: it has no display.
    package var displayEvidence: DisplayEvidence? {
        guard isBranded else { return nil }
        if progressAt != nil || ringingAt != nil { return .alerting }
        return answeredAt == nil || machine != nil ? nil : .answered
    }

    /// Whole seconds from alerting to answer or end; nil when either is unknown.
    package var ringSeconds: Int? {
        guard let alertedAt, let until = answeredAt ?? (endIsKnown ? endedAt : nil) else { return nil }
        return Self.seconds(from: alertedAt, to: until)
    }

    /// Whole seconds from answer to BYE; nil when nobody answered or the BYE was not seen.
    package var callSeconds: Int? {
        guard let answeredAt, let endedAt, endIsKnown, machine != .voicemail else { return nil }
        return Self.seconds(from: answeredAt, to: endedAt)
    }

    /// `matched`, or why the call went on without a brand.
    package var decision: String { reason?.description ?? "matched" }

    /// The duration, or nil when the wall clock was set back meanwhile.
    private static func seconds(from start: Int64, to end: Int64) -> Int? {
        end >= start ? Int((end - start) / 1_000_000) : nil
    }

    /// A text of the ring, without the character its byte limit may have cut in two; nil when empty.
    static func text(_ bytes: [UInt8]?) -> String? {
        guard let bytes, !bytes.isEmpty else { return nil }
        var count = bytes.count
        // At most three continuation bytes stand at the end of a cut character; drop them with their first byte.
        if let last = bytes.last, last >= 0x80, String(validating: bytes, as: UTF8.self) == nil {
            var lead = count - 1
            while lead > 0, count - lead < 4, bytes[lead] & 0xC0 == 0x80 { lead -= 1 }
            if bytes[lead] >= 0xC0 { count = lead }
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}

extension CallRecord {
    /// Is to whom `next` is to, with more digits of the same number; see `isIncomplete(before:)`.
    mutating func take(digitsOf next: CallRecord) {
        destination = next.destination
        guard direction == .inbound else { return }
        origin = Origin(
            sipCallID: sipCallID, trunk: trunk, subscriber: next.subscriber, brandID: brandID, brandName: brandName,
            carrierName: carrierName)
    }

    /// The texts of the INVITE, which no later word but more digits changes.
    ///
    /// One object: a record is copied some sixteen times a call, with each text by itself a twentieth of the recorder's
    /// instructions.
    private final class Origin: Hashable, Sendable {
        let sipCallID: String
        let trunk: String?
        let subscriber: String
        let brandID: String?
        let brandName: String?
        let carrierName: String?

        init(
            sipCallID: String, trunk: String?, subscriber: String, brandID: String?, brandName: String?,
            carrierName: String?
        ) {
            self.sipCallID = sipCallID
            self.trunk = trunk
            self.subscriber = subscriber
            self.brandID = brandID
            self.brandName = brandName
            self.carrierName = carrierName
        }

        static func == (one: Origin, other: Origin) -> Bool {
            one === other || one.texts == other.texts
        }

        func hash(into hasher: inout Hasher) { hasher.combine(texts) }

        private var texts: [String?] { [sipCallID, trunk, subscriber, brandID, brandName, carrierName] }
    }
}

extension CallSignal.Marks {
    /// What answers, where it is a machine; voicemail, the more telling one, first.
    var machine: CallAnswerer? {
        if contains(.voicemail) { return .voicemail }
        return contains(.system) ? .system : nil
    }
}

/// What proves that a brand was shown.
package enum DisplayEvidence: String, Hashable, Sendable {
    case alerting
    case answered
}
