// SPDX-License-Identifier: Apache-2.0

/// What became of a call, as a person at the called phone would say it; the raw value is `meta.call_outcome`.
package enum CallOutcome: String, Hashable, Sendable, CaseIterable {
    /// Somebody, or something, picked up.
    case answered = "ANSWERED"
    /// Nobody picked up, or the caller gave up.
    case missed = "MISSED"
    /// The called person declined.
    case rejected = "REJECTED"
    /// The line was busy before it ever rang; exports that know three words take it as MISSED.
    case busy = "BUSY"
    /// The call never reached a phone.
    case failed = "FAILED"
    /// The network or an analytics service refused the call (608).
    case blocked = "BLOCKED"
    /// Another phone of the same person picked up.
    case answeredElsewhere = "ANSWERED_ELSEWHERE"
    /// The person declined at another phone.
    case declinedElsewhere = "DECLINED_ELSEWHERE"

    /// True when nobody was talked to although somebody may have been meant to: what a return call answers.
    package var isUnanswered: Bool { self == .missed || self == .busy || self == .rejected }
}

/// Who answers where it is not a person.
package enum CallAnswerer: String, Hashable, Sendable {
    /// A voicemail box: nobody picked up.
    case voicemail
    /// A queue or menu: an answer, though no phone may have rung yet.
    case system
}

/// What a call's end looked like on the wire, with what is needed to read it.
package struct CallEnding: Hashable, Sendable {
    /// Status of the final answer; 0 when none came.
    package var status: UInt16
    /// Q.850 cause of the final answer's or the CANCEL's Reason; 0 when none.
    package var q850Cause: UInt16
    /// SIP cause of the Reason; 0 when none, 608 also where its text says that analytics blocked the call (ATIS-1000099).
    package var sipCause: UInt16
    /// A 180 was seen.
    package var rang: Bool
    /// Any of 180, 182 and 183 was seen.
    package var alerted: Bool
    /// The caller had cancelled before the final answer came.
    package var cancelled: Bool

    package init(
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

    /// The outcome of a call that was never answered here.
    ///
    /// A final answer that only a person or a phone can give wins over a CANCEL it crossed; everything else that comes
    /// after a CANCEL is its echo. Statuses alone do not tell: an Asterisk answers 603 with Q.850 16 when nobody picked
    /// up, and 403 with Q.850 21 when the user declined (measured with versions 16 and 22).
    package var outcome: CallOutcome {
        if let outcome = outcomeOfDecision { return outcome }
        if cancelled || status == 487 { return outcomeOfCancel }
        // RFC 3398 §7.2.4.1 and ITU-T Q.850: 18 no user responding, 19 no answer from user (user alerted).
        if q850Cause == 19 || (alerted && q850Cause == 18) { return .missed }
        // The phone rang and nobody talked, whatever the reason the network gives for it.
        return alerted ? .missed : .failed
    }

    /// What a person or a phone decided, or nil when the answer says nothing of the kind.
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

    /// Many phones send 486 when their reject key is pressed: after ringing it is a decision.
    private var busyOrRejected: CallOutcome { rang ? .rejected : .busy }

    /// Who took the call when it was cancelled; RFC 3326 §2, ITU-T Q.850 cause 26 (non-selected user clearing).
    private var outcomeOfCancel: CallOutcome {
        switch sipCause {
        case 200: return .answeredElsewhere
        case 600, 603: return .declinedElsewhere
        default: return q850Cause == 26 ? .answeredElsewhere : .missed
        }
    }
}
