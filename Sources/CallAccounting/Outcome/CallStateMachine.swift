// SPDX-License-Identifier: Apache-2.0

import Branding

/// The state machine of one call, from its updates to its outcome; pure, without a clock.
///
/// ```
/// inviting ─180,183→ alerting ──2xx──→ answered ─BYE→ ended
///     │  └────────2xx──────┴───────────────┘            ↑
///     ├─401,3xx,…→ refused ─INVITE→ inviting            │
///     ├─no phone rang→ refused ─INVITE of a new call────┤
///     └─CANCEL→ cancelled ──487, or another response────┤
///                    └────2xx→ answered                 │
///     any ─final response, or nothing for too long──────┘
/// ```
///
/// Updates that do not fit (a repeated 2xx of a fork, a late 180, a second BYE) change nothing.
public struct CallStateMachine: Hashable, Sendable {
    public private(set) var record: CallRecord

    /// The effect of an update; the owner mints the events and stores the record.
    public struct Step: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The record has changed.
        public static let changed = Step(rawValue: 1)
        /// There is evidence that a phone of the called side rang or was answered; reported once.
        public static let reached = Step(rawValue: 2)
        /// The outcome is known and final; reported once.
        public static let ended = Step(rawValue: 4)
        /// The called parties or the decision have changed.
        public static let parties = Step(rawValue: 8)
    }

    /// Waits for messages that may never come, in microseconds.
    public struct Limits: Hashable, Sendable {
        /// Longest time of retransmissions of an INVITE: 64 × T1, RFC 3261 §17.1.1.2.
        public static let repetition: Int64 = 32_000_000
        /// After a challenge, for the INVITE with credentials.
        public var retry: Int64 = 32_000_000  // 64 × T1, RFC 3261 §17.1.1.2
        /// After an end before any phone rang, for the carrier's next attempt with a new Call-ID; 0 for none.
        public var redial: Int64 = 0
        /// After `redial`, until the shared ledger shows whether that attempt passed another gateway; 0 without one.
        public var sharedRedial: Int64 = 0
        /// After an end that another gateway may have seen better, for its report; 0 without siblings.
        public var siblingReport: Int64 = 0
        /// After a CANCEL, for the final response.
        public var cancel: Int64 = 64_000_000
        /// After the last message of a call without a 2xx: 15 minutes, or twice Timer C if that is longer (RFC 3261
        /// §16.6).
        ///
        /// A ringing phone repeats its provisional response every minute (§13.3.1.1).
        public var unanswered: Int64
        /// After the 2xx, for the BYE.
        public var answered: Int64
        /// After the end of a session without a refresh, for the BYE; 64 × T1.
        public var session: Int64 = 32_000_000

        /// - Parameters:
        ///   - answered: seconds after which an answered call without BYE ends; 4 hours.
        ///   - timerC: seconds a target may ring, as configured.
        public init(answered: Int64 = 14_400, timerC: Int64 = 181) {
            self.answered = answered * 1_000_000
            unanswered = max(900, 2 * timerC) * 1_000_000
        }
    }

    /// The dialog whose 2xx answered the call; nil before, after a restart, and if the update does not name it.
    private var answerer: CallIdentifier?
    /// Time of the last message without a field in the record: another attempt, a repeated response of the phone.
    private var otherMessageAt = Int64.min
    /// The gateway that saw a BYE before any 2xx; nil without such a BYE.
    private var earlyBye: Witness?
    /// The decision with a brand on an INVITE that may still ring, while the record has that of another INVITE; nil otherwise.
    private var branded: InviteDecision?
    /// Whether an end before any phone rang waits for the carrier's next attempt.
    private let awaitsRedial: Bool
    /// Whether siblings may have seen messages of the call.
    private let hasSiblings: Bool

    /// The gateway that has seen a message.
    private enum Witness: Hashable { case here, elsewhere }

    /// Begins with the record of an INVITE, or continues with a stored record.
    ///
    /// - Parameters:
    ///   - awaitsRedial: an inbound call that ended before any phone rang stays open for `Limits.redial`; one that a PBX
    ///     reported has ended.
    ///   - hasSiblings: an end that a sibling may have seen better waits for `Limits.siblingReport`.
    public init(_ record: CallRecord, awaitsRedial: Bool = false, hasSiblings: Bool = false) {
        self.record = record
        self.hasSiblings = hasSiblings
        self.awaitsRedial =
            awaitsRedial && record.direction == .inbound && record.caller != nil && !record.isRejected
            && !record.isByDoor
    }

    /// Applies the next update of this call.
    public mutating func receive(_ update: CallUpdate) -> Step {
        let wasReached = record.isReached
        let step = apply(update)
        return reaching(after: wasReached, step)
    }

    /// Applies an update that another gateway has seen, which may be late: a later message may have overtaken it.
    public mutating func receive(foreign update: CallUpdate) -> Step {
        let wasReached = record.isReached
        let step = apply(foreign: update)
        return reaching(after: wasReached, step)
    }

    /// Adds `reached` to a step that brought the first evidence of it.
    private func reaching(after wasReached: Bool, _ step: Step) -> Step {
        step.isEmpty || wasReached || !record.isReached ? step : step.union(.reached)
    }

    private mutating func apply(_ update: CallUpdate) -> Step {
        guard record.endedAt == nil else { return [] }
        let decided = takeBrand(ofShown: update)
        let step = follow(update)
        return step.isEmpty ? decided : step.union(decided)
    }

    private mutating func follow(_ update: CallUpdate) -> Step {
        switch update.kind {
        case .invite: return invited(update)
        case .provisional: return alerted(update)
        case .answered: return answered(update, at: .here)
        case .failed: return failed(update)
        case .cancelled: return cancelled(update)
        case .bye: return byeReceived(update, at: .here)
        case .refreshed: return refreshed(update)
        case .triedBefore: return triedBefore(update)
        }
    }

    private mutating func apply(foreign update: CallUpdate) -> Step {
        guard record.endedAt == nil else { return [] }
        let time = update.wallMicroseconds
        switch update.kind {
        // An INVITE that both gateways have.
        case .invite where time < record.inviteAt:
            record.inviteAt = time
            return .changed
        // Of the refused attempt, within the error of two clocks; a later one is of an attempt that is not known here.
        case .provisional where record.refusedAt.map { time < $0 + Self.clockError } ?? false:
            return rangBeforeRefusal(update)
        // Its report took longer than that of the 2xx. The phone rang before.
        case .provisional where update.status == 180 && record.ringingAt == nil && record.answeredAt != nil:
            record.ringingAt = record.answeredAt.map { min($0, time) }
            return .changed
        // A rejection of an earlier attempt. A CANCEL overtakes nothing, because responses cross it.
        case .failed where time < max(otherMessageAt, record.alertedAt ?? .min): return []
        case .answered where record.answeredAt.map { time < $0 } ?? false: return answeredEarlier(update)
        case .answered: return answered(update, at: .elsewhere)
        case .bye: return byeReceived(update, at: .elsewhere)
        case .refreshed where update.sessionSeconds > 0 && sessionEnd(update) < record.sessionUntil ?? .min: return []
        default: return apply(update)
        }
    }

    /// Shifts the times of the call by a step of the wall clock, in microseconds; `now` is the new time.
    ///
    /// An ended call keeps its times. So does a call with times that the old clock cannot have given: they are of a
    /// right clock, before a start with a wrong one.
    public mutating func clockWasSet(by step: Int64, now: Int64) -> Step {
        guard record.endedAt == nil, record.lastMessageAt &- 1_000_000 <= now &- step else { return [] }
        record.clockWasSet(by: step)
        if otherMessageAt != .min { otherMessageAt &+= step }
        return .changed
    }

    /// True while the carrier may try again with a new Call-ID.
    public var isOpenToRedial: Bool {
        awaitsRedial && record.endedAt == nil && record.refusedAt != nil && !Self.asksForRetry(record.status)
            && !record.ending.hasRung
    }

    /// True for an end that waits for the reports of siblings: a 487 without its CANCEL, whose Reason a sibling has, or a
    /// response of this gateway's own, which a response of the phone corrects.
    private var isHeld: Bool {
        record.refusedAt != nil && !Self.asksForRetry(record.status) && (!awaitsRedial || record.ending.hasRung)
    }

    /// Continues with another INVITE of the carrier for the same pair: one call, one more attempt.
    ///
    /// - Parameter time: arrival of the INVITE, microseconds since 1970.
    public mutating func redialled(as call: CallIdentifier, sipCallID: String, at time: Int64) -> Step {
        guard isOpenToRedial else { return [] }
        otherMessageAt = time
        record.attempt = (call, sipCallID)
        record.attemptAt = time
        beginAttempt()
        record.cancelledAt = nil
        return .changed
    }

    /// Takes the decision on an INVITE of the call that another gateway has; see `decided(also:_:)`.
    public mutating func decided(also other: CallRecord) -> Step {
        guard record.endedAt == nil, other.direction == .inbound else { return [] }
        return decided(also: other.reason, other.evidence)
    }

    /// Takes the decision on another INVITE without a brand, until a response shows that the branded one has reached a phone.
    private mutating func decided(also reason: PassThroughReason?, _ evidence: DecisionEvidence?) -> Step {
        // An INVITE that comes back from the PBX has its brand already.
        guard let reason, reason != .alreadyBranded, record.direction == .inbound, !record.isReached else { return [] }
        // All INVITEs before have failed.
        let isNext = record.refusedAt != nil
        if isNext { branded = nil }
        guard record.isBranded else { return [] }
        if !isNext { branded = record.decided }
        record.decided = record.decided(also: reason, evidence)
        return [.changed, .parties]
    }

    /// Takes the branded decision back at a response from which a phone has shown the name.
    private mutating func takeBrand(ofShown update: CallUpdate) -> Step {
        guard let branded, update.reason == nil, record.answeredAt == nil else { return [] }
        switch update.kind {
        case .provisional where update.status == 180: break
        case .answered where update.marks.machine == nil && record.machine == nil: break
        default: return []
        }
        record.decided = branded
        self.branded = nil
        return [.changed, .parties]
    }

    /// Counts an attempt; a 183 of the attempt before proves nothing for it.
    private mutating func beginAttempt() {
        record.progressAt = nil
        record.refusedAt = nil
        (record.status, record.q850Cause, record.sipCause) = (0, 0, 0)
        record.attempts += 1
    }

    /// Ends a call whose wait for another attempt is over, before its deadline; empty for a call that does not wait.
    public mutating func endsWithoutRedial() -> Step {
        guard isOpenToRedial, let refusedAt = record.refusedAt else { return [] }
        return end(record.ending.outcome, at: refusedAt)
    }

    /// Continues with an INVITE of the same call that carries more digits; empty for another destination.
    public mutating func dialled(on next: CallRecord) -> Step {
        guard record.isIncomplete(before: next) else { return [] }
        otherMessageAt = next.inviteAt
        _ = decided(also: next.reason, next.evidence)
        record.take(digitsOf: next)
        beginAttempt()
        return [.changed, .parties]
    }

    /// Adds the called party of another INVITE, which rings beside the first or instead of it; empty for a known one.
    public mutating func called(also next: CalledParty) -> Step {
        guard record.endedAt == nil, record.call(also: next, isNext: record.refusedAt != nil) else { return [] }
        return [.changed, .parties]
    }

    /// Makes the party that answered that of the account.
    private mutating func takeParty(of update: CallUpdate) -> Step {
        record.answered(by: update.calledMark) ? [.changed, .parties] : .changed
    }

    /// Ends a call without a 2xx whose upstream proxy now tries another destination (serial forking, RFC 3261 §16.5).
    ///
    /// The response to a CANCEL may come later, and is not awaited.
    public mutating func abandonedForNextTarget() -> Step {
        guard record.endedAt == nil, record.answeredAt == nil,
            let time = record.cancelledAt ?? (isOpenToRedial || isHeld || record.status == 484 ? record.refusedAt : nil)
        else { return [] }
        return end(record.ending.outcome, at: time)
    }

    /// The time at which `expire` ends the call without further updates, in microseconds since 1970; nil once it has
    /// ended.
    public func deadline(_ limits: Limits) -> Int64? {
        guard record.endedAt == nil else { return nil }
        if let answeredAt = record.answeredAt {
            let longest = Self.time(limits.answered, after: answeredAt)
            return record.sessionUntil.map { min(longest, Self.time(limits.session, after: $0)) } ?? longest
        }
        if let refusedAt = record.refusedAt {
            if isHeld { return Self.time(limits.siblingReport, after: refusedAt) }
            guard isOpenToRedial else { return Self.time(limits.retry, after: refusedAt) }
            return Self.time(limits.redial + limits.sharedRedial, after: refusedAt)
        }
        if let cancelledAt = record.cancelledAt { return Self.time(limits.cancel, after: cancelledAt) }
        return Self.time(limits.unanswered, after: max(record.lastMessageAt, otherMessageAt))
    }

    /// Ends a call whose deadline has passed.
    ///
    /// - Parameter now: microseconds since 1970.
    public mutating func expire(now: Int64, limits: Limits) -> Step {
        guard let deadline = deadline(limits), deadline <= now else { return [] }
        if record.answeredAt != nil {
            record.endIsKnown = false
            let isLapsed = record.sessionUntil.map { Self.time(limits.session, after: $0) <= now } ?? false
            return end(outcomeOfAnswered, at: isLapsed ? record.sessionUntil ?? now : now)
        }
        if let refusedAt = record.refusedAt { return end(record.ending.outcome, at: refusedAt) }
        if let cancelledAt = record.cancelledAt {
            // An early dialog that ends with BYE gets a 487 (RFC 3261 §15.1.2). Without one there was a 2xx, at a gateway that died.
            guard hasRepeatedAnswer || earlyBye != nil else { return end(record.ending.outcome, at: cancelledAt) }
            return endedBeforeAnswer(at: cancelledAt)
        }
        record.endIsKnown = false
        return end(record.alertedAt == nil ? .failed : .missed, at: now)
    }

    /// Takes the end that another gateway has stored for this call; its times fill what was not seen here.
    public mutating func ended(elsewhere other: CallRecord) -> Step {
        guard record.endedAt == nil, let endedAt = other.endedAt, let outcome = other.outcome else { return [] }
        func earlier(_ own: Int64?, _ time: Int64?) -> Int64? {
            guard let own, let time else { return own ?? time }
            return min(own, time)
        }
        let decided = decided(also: other)
        record.progressAt = earlier(record.progressAt, other.progressAt)
        record.ringingAt = earlier(record.ringingAt, other.ringingAt)
        record.answeredAt = earlier(record.answeredAt, other.answeredAt)
        record.cancelledAt = earlier(record.cancelledAt, other.cancelledAt)
        (record.status, record.q850Cause, record.sipCause) = (other.status, other.q850Cause, other.sipCause)
        record.attempts = max(record.attempts, other.attempts)
        record.isForwarded = record.isForwarded || other.isForwarded
        record.machine = other.machine ?? record.machine
        record.refusedAt = nil
        (record.endedAt, record.outcome, record.endIsKnown) = (endedAt, outcome, other.endIsKnown)
        return decided.union(.changed)
    }

    /// A later time; the largest value on overflow.
    private static func time(_ pause: Int64, after time: Int64) -> Int64 {
        let (sum, isOver) = time.addingReportingOverflow(pause)
        return isOver ? .max : sum
    }

    // MARK: Updates

    /// An INVITE of an open call: with credentials after a challenge, else a retransmission.
    private mutating func invited(_ update: CallUpdate) -> Step {
        let decided = decided(also: update.reason, update.evidence)
        guard record.refusedAt != nil else { return decided }
        otherMessageAt = update.wallMicroseconds
        beginAttempt()
        return decided.union(.changed)
    }

    /// Largest error of the time of another gateway's report, in microseconds.
    private static let clockError: Int64 = 1_000_000

    /// Takes a 180 or 183 of an attempt that has failed meanwhile; it reopens nothing.
    private mutating func rangBeforeRefusal(_ update: CallUpdate) -> Step {
        let wasHeld = isHeld
        guard let refusedAt = record.refusedAt, takeAlert(update, before: refusedAt) else { return [] }
        let goesOn = wasHeld || Self.asksForRetry(record.status) || !record.ending.hasRung
        return goesOn || awaitsCancel ? .changed : end(record.ending.outcome, at: refusedAt)
    }

    /// Whether the call ended with a 487 whose CANCEL may have passed a sibling.
    private var awaitsCancel: Bool { hasSiblings && record.status == 487 && record.cancelledAt == nil }

    /// Takes the time of a 180 or 183 that came before a final response; false for a later one of its kind.
    private mutating func takeAlert(_ update: CallUpdate, before end: Int64) -> Bool {
        let time = min(update.wallMicroseconds, end)
        switch update.status {
        case 180 where time < record.ringingAt ?? .max: record.ringingAt = time
        case 183 where time < record.progressAt ?? .max: record.progressAt = time
        default: return false
        }
        return true
    }

    private mutating func alerted(_ update: CallUpdate) -> Step {
        guard record.answeredAt == nil else { return [] }
        if isHeld, let refusedAt = record.refusedAt { return takeAlert(update, before: refusedAt) ? .changed : [] }
        let wasForwarded = record.isForwarded
        // RFC 3261 §21.1.3: 181 means that the call is forwarded.
        if update.status == 181 || update.marks.contains(.forwarded) { record.isForwarded = true }
        switch update.status {
        case 180: record.ringingAt = record.ringingAt ?? update.wallMicroseconds
        case 183: record.progressAt = record.progressAt ?? update.wallMicroseconds
        case 182: break  // a queue: the call is alive, and no phone rings
        default: return record.isForwarded == wasForwarded ? [] : .changed  // 100, 181, 199
        }
        otherMessageAt = max(otherMessageAt, update.wallMicroseconds)
        if !hasRepeatedAnswer { record.status = update.status }
        // An earlier failure was of another branch: a call in progress waits for no other attempt.
        record.refusedAt = nil
        return .changed
    }

    private mutating func answered(_ update: CallUpdate, at witness: Witness) -> Step {
        guard record.answeredAt == nil else { return [] }
        let byeAt = earlyBye == nil ? nil : record.cancelledAt
        if case .answererDialog(let dialog) = update.counterpart { answerer = dialog }
        record.status = update.status == 0 ? 200 : update.status
        record.refusedAt = nil
        record.machine = update.marks.machine ?? record.machine
        if update.marks.contains(.forwarded) { record.isForwarded = true }
        // Of two gateways, one has seen a 2xx that the other one's BYE has overtaken: a repetition, and the first is unknown.
        if let byeAt, earlyBye != witness || witness == .elsewhere, update.wallMicroseconds >= byeAt { return .changed }
        record.answeredAt = update.wallMicroseconds
        setSession(update)
        return takeParty(of: update)
    }

    /// Takes over the first 2xx of a call whose later one was seen here: a repetition, or the 2xx to a re-INVITE.
    private mutating func answeredEarlier(_ update: CallUpdate) -> Step {
        record.answeredAt = update.wallMicroseconds
        if case .answererDialog(let dialog) = update.counterpart { answerer = dialog }
        record.machine = update.marks.machine ?? record.machine
        return takeParty(of: update)
    }

    /// Whether the only 2xx that is known came after the BYE; the first one is awaited from another gateway.
    private var hasRepeatedAnswer: Bool { record.answeredAt == nil && record.status / 100 == 2 }

    /// Ends a call at its BYE, whose first 2xx nobody has reported.
    private mutating func endedBeforeAnswer(at time: Int64) -> Step {
        let wasReached = record.isReached
        record.answeredAt = time
        return reaching(after: wasReached, end(outcomeOfAnswered, at: time))
    }

    private mutating func refreshed(_ update: CallUpdate) -> Step {
        guard record.answeredAt != nil else { return [] }
        let before = record.sessionUntil
        setSession(update)
        return record.sessionUntil == before ? [] : .changed
    }

    /// RFC 4028 §10: the session ends this interval after its last refresh; the least interval is 90 s (§4).
    private mutating func setSession(_ update: CallUpdate) {
        record.sessionUntil = update.sessionSeconds == 0 ? nil : sessionEnd(update)
    }

    private func sessionEnd(_ update: CallUpdate) -> Int64 {
        update.wallMicroseconds + Int64(max(90, update.sessionSeconds)) * 1_000_000
    }

    private mutating func failed(_ update: CallUpdate) -> Step {
        guard record.answeredAt == nil, !hasRepeatedAnswer else { return [] }
        // The phone's response counts before this gateway's own.
        if update.isOwn, record.refusedAt != nil { return [] }
        record.status = update.status
        if update.status / 100 == 3 { record.isForwarded = true }
        // A 487 follows the CANCEL, so its causes do not replace those of the CANCEL.
        let hasCause = record.q850Cause != 0 || record.sipCause != 0
        if update.status != 487 || record.cancelledAt == nil || !hasCause {
            if update.q850Cause != 0 { record.q850Cause = update.q850Cause }
            if update.sipCause != 0 { record.sipCause = update.sipCause }
        }
        // A repeated rejection, which may pass another gateway, moves nothing.
        let time = min(update.wallMicroseconds, record.refusedAt ?? .max)
        if record.isRejected { return end(record.ending.outcome, at: time) }
        if record.cancelledAt == nil, Self.asksForRetry(update.status), !record.isByDoor {
            record.refusedAt = time
            return .changed
        }
        if mayBeRedialled || awaitsCancel || hasSiblings && update.isOwn {
            record.refusedAt = time
            return .changed
        }
        return end(record.ending.outcome, at: time)
    }

    /// Whether the carrier tries again after an end like that of the record.
    private var mayBeRedialled: Bool {
        let ending = record.ending
        let outcome = ending.outcome
        return awaitsRedial && !ending.hasRung && (outcome == .failed || outcome == .missed)
    }

    private mutating func cancelled(_ update: CallUpdate) -> Step {
        guard record.answeredAt == nil, record.cancelledAt == nil else { return [] }
        let waitsSince = isHeld || isOpenToRedial ? record.refusedAt : nil
        record.cancelledAt = update.wallMicroseconds
        record.q850Cause = update.q850Cause
        record.sipCause = update.sipCause
        guard let waitsSince, !mayBeRedialled else { return .changed }
        return end(record.ending.outcome, at: waitsSince)
    }

    private mutating func byeReceived(_ update: CallUpdate, at witness: Witness) -> Step {
        if record.answeredAt == nil {
            if needsAnswer { reopen() }
            // The caller may end an early dialog with BYE, RFC 3261 §15, which means the same as a CANCEL.
            let step = cancelled(update)
            if !step.isEmpty, record.endedAt == nil { earlyBye = witness }
            return step
        }
        // RFC 3261 §13.2.2.4: the caller of a forked INVITE ends all 2xx dialogs but one with BYE.
        if let answerer, case .answererDialog(let dialog) = update.counterpart, dialog != answerer { return [] }
        if update.q850Cause != 0 { record.q850Cause = update.q850Cause }
        return end(outcomeOfAnswered, at: update.wallMicroseconds)
    }

    /// Whether a BYE now proves a 2xx, which has passed a sibling.
    ///
    /// No early dialog outlives its final response (RFC 3261 §12.3, §15). After a 487 the BYE is the cause of it.
    private var needsAnswer: Bool {
        hasSiblings && record.refusedAt != nil && record.cancelledAt == nil && record.status != 487
            && !Self.asksForRetry(record.status)
    }

    /// Takes an end back that the call has outlived.
    private mutating func reopen() {
        record.refusedAt = nil
        (record.status, record.q850Cause, record.sipCause) = (0, 0, 0)
    }

    /// Each earlier attempt counts once, however often it is reported.
    private mutating func triedBefore(_ update: CallUpdate) -> Step {
        guard case .earlierAttempt(let earlier) = update.counterpart, earlier != record.call,
            record.earlierAttempts.count < Self.mostEarlierAttempts, !record.earlierAttempts.contains(earlier)
        else { return [] }
        record.earlierAttempts.append(earlier)
        record.attempts += max(1, Int(update.status))
        return .changed
    }

    /// Most calls of other gateways that one call continues.
    private static let mostEarlierAttempts = 16

    // MARK: Ending

    /// A call that a voicemail box answered is missed.
    private var outcomeOfAnswered: CallOutcome { record.machine == .voicemail ? .missed : .answered }

    private mutating func end(_ outcome: CallOutcome, at time: Int64) -> Step {
        let wasReached = record.isReached
        record.outcome = outcome
        // The call ended for the phone with the CANCEL, not with the 487.
        record.endedAt = record.answeredAt != nil ? time : min(record.cancelledAt ?? time, time)
        record.refusedAt = nil
        return reaching(after: wasReached, [.changed, .ended])
    }
}

extension CallStateMachine {
    /// Final responses after which a caller tries again with the same Call-ID and From tag.
    ///
    /// Source: RFC 3261 §8.1.3.4 (3xx), §8.1.3.5 and §22; 422 RFC 4028 §6; 428, 436, 437, 438 RFC 8224 §6.2.2; 484 RFC
    /// 3578 §3.2; 494 RFC 3329 §2.3.
    public static func asksForRetry(_ status: UInt16) -> Bool {
        switch status {
        case 300..<400, 401, 407, 415, 416, 420, 421, 422, 428, 436, 437, 438, 484, 494: true
        default: false
        }
    }
}
