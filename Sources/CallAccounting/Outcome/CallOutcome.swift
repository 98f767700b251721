// SPDX-License-Identifier: Apache-2.0

/// The outcome of a call from the callee's point of view; the raw value is `meta.call_outcome`.
public enum CallOutcome: String, Hashable, Sendable, CaseIterable {
    /// A person or a machine answered.
    case answered = "ANSWERED"
    /// Nobody answered, or the caller gave up.
    case missed = "MISSED"
    /// The called person declined.
    case rejected = "REJECTED"
    /// The line was busy before it rang; exports with three outcomes use MISSED.
    case busy = "BUSY"
    /// The call never reached a phone.
    case failed = "FAILED"
    /// The network or an analytics service refused the call (608).
    case blocked = "BLOCKED"
    /// Another phone of the same person picked up.
    case answeredElsewhere = "ANSWERED_ELSEWHERE"
    /// The person declined at another phone.
    case declinedElsewhere = "DECLINED_ELSEWHERE"

    /// True for outcomes that a return call makes good: nobody talked to the caller.
    public var isUnanswered: Bool { self == .missed || self == .busy || self == .rejected }
}

/// The kind of machine that picks up.
public enum CallAnswerer: String, Hashable, Sendable {
    /// A voicemail box; no person answered.
    case voicemail
    /// A queue or menu; the call is answered, though no phone may have rung yet.
    case system
}

/// The end of a call on the wire, with the context to interpret it.
public struct CallEnding: Hashable, Sendable {
    /// Status of the final response; 0 for none.
    public var status: UInt16
    /// Q.850 cause in the Reason of the final response or the CANCEL; 0 for none.
    public var q850Cause: UInt16
    /// SIP cause of the Reason; 0 for none, 608 also for a text that names analytics (ATIS-1000099).
    public var sipCause: UInt16
    /// A 180 was seen.
    public var rang: Bool
    /// A 180 or 183 was seen.
    public var alerted: Bool
    /// The caller cancelled before the final response.
    public var cancelled: Bool

    public init(
        status: UInt16, q850Cause: UInt16 = 0, sipCause: UInt16 = 0, rang: Bool = false, alerted: Bool = false,
        cancelled: Bool = false
    ) {
        self.status = status
        self.q850Cause = q850Cause
        self.sipCause = sipCause
        self.rang = rang
        self.alerted = alerted
        self.cancelled = cancelled
    }

    /// The outcome of a call without a 2xx.
    ///
    /// A final response that only a person or a phone can give takes precedence over a CANCEL that it crossed. Other
    /// responses after a CANCEL follow from it. Status codes are not enough: Asterisk sends 603 with Q.850 16 when
    /// nobody picks up, and 403 with Q.850 21 when the user declines (measured with versions 16 and 22).
    public var outcome: CallOutcome {
        if let outcome = outcomeOfDecision { return outcome }
        if cancelled || status == 487 { return outcomeOfCancel }
        // RFC 3398 §7.2.4.1 and ITU-T Q.850: 19 user alerted but silent.
        if q850Cause == 19 { return .missed }
        // The phone rang and nobody answered, whatever reason the network gives.
        return hasRung ? .missed : .failed
    }

    /// Whether a phone is known to have rung: by a 180, or by a 183 and an end that only a ringing call has.
    ///
    /// A 183 alone may be an announcement, such as "the number is not in service" before a 404.
    public var hasRung: Bool { rang || alerted && isOfRingingCall }

    /// Whether the end fits a phone that rang: nobody picked up, somebody declined, or the caller gave up.
    private var isOfRingingCall: Bool {
        switch status {
        case 0: return cancelled
        case 487: return true  // RFC 3261 §21.4.25: it follows the CANCEL, whose causes are the caller's
        case 603 where sipCause == 608: return false  // ATIS-1000099: analytics of a network
        // RFC 3261 §21.4.9, §21.4.18, §21.4.24, §21.6.1, §21.6.2; RFC 8197. Not 604, which is 404 for all places
        // (§21.6.3), not 606, which is 488 for all (§21.6.4), and not 608 of an analytics service (RFC 8688 §1). RFC 3398
        // §8.2.6.1 agrees: 600 is user busy, 603 call rejected, 604 an unallocated number, 606 a missing bearer.
        case 408, 480, 486, 600, 603, 607: return !hasReachedNoPhone
        case 403: return q850Cause == 21  // Asterisk's form of 603
        default: return false
        }
    }

    /// Whether the Q.850 cause denies that a phone rang (ITU-T Q.850 §2.2.7.1).
    ///
    /// 1 to 3: no such number, no route; 20 subscriber absent; 22 number changed; 27 destination out of order; 28 invalid
    /// number; 34 to 47: no circuit or resource.
    private var hasReachedNoPhone: Bool {
        switch q850Cause {
        case 1...3, 20, 22, 27, 28, 34...47: true
        default: false
        }
    }

    /// The decision of a person or a phone; nil for other responses.
    private var outcomeOfDecision: CallOutcome? {
        switch status {
        case 486, 600: return busyOrRejected
        case 603 where sipCause == 608: return .blocked  // ATIS-1000099: analytics of a network, no person
        case 603 where alerted && (q850Cause == 16 || q850Cause == 18 || q850Cause == 19): return nil
        case 603 where q850Cause == 17: return busyOrRejected
        case 603, 607: return .rejected  // RFC 3261 §21.6.2, RFC 8197
        case 608: return .blocked  // RFC 8688
        case 487, 0: return nil
        default: break
        }
        switch q850Cause {
        case 21: return .rejected  // call rejected
        case 17: return busyOrRejected  // user busy
        default: return nil
        }
    }

    /// Many phones send 486 for the reject key, so after ringing it is a decision.
    private var busyOrRejected: CallOutcome { rang ? .rejected : .busy }

    /// The outcome by the cause of a CANCEL; RFC 3326 §2, ITU-T Q.850 cause 26 (non-selected user clearing).
    private var outcomeOfCancel: CallOutcome {
        switch sipCause {
        case 200: return .answeredElsewhere
        case 600, 603: return .declinedElsewhere
        default: return q850Cause == 26 ? .answeredElsewhere : .missed
        }
    }
}
