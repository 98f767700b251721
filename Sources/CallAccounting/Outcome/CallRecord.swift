// SPDX-License-Identifier: Apache-2.0

public import Branding
public import Trust

/// The data of one call: filled update by update, stored as one row of the ledger.
///
/// Times are wall clock, microseconds since 1970. A withheld caller has neither number nor name here.
public struct CallRecord: Hashable, Sendable {
    public private(set) var call: CallIdentifier
    public let direction: CallUpdate.Direction
    private var shared: Shared
    /// The caller; nil when withheld or unclear.
    public var caller: E164Number?
    /// The called number; nil when unclear.
    public var destination: E164Number?
    /// Nil when the INVITE left with a brand.
    public var reason: PassThroughReason?
    /// The findings behind the decision on the first INVITE; nil for an outbound call.
    public var evidence: DecisionEvidence?
    public var inviteAt: Int64
    /// First 183 of the present attempt; it may be an announcement, so the end of the call decides what it proves.
    public var progressAt: Int64?
    /// First 180.
    public var ringingAt: Int64?
    /// First 2xx.
    public var answeredAt: Int64?
    public var cancelledAt: Int64?
    /// Time of the last message: BYE, CANCEL, final response; nil while the call is open.
    public var endedAt: Int64?
    /// Time of a rejection that allows another attempt (401, 407, …); nil after that attempt.
    public var refusedAt: Int64?
    /// Last relevant status; 0 for none.
    public var status: UInt16 = 0
    public var q850Cause: UInt16 = 0
    public var sipCause: UInt16 = 0
    /// Number of INVITEs: 1, or more after a challenge or another attempt of the carrier.
    public var attempts: Int = 1
    /// Time of the INVITE of the present attempt; nil for the first one.
    public var attemptAt: Int64?
    /// The call was forwarded: Diversion, History-Info, 181, 3xx.
    public var isForwarded = false
    /// The machine that picks up or would pick up, if the configuration recognises it.
    public var machine: CallAnswerer?
    /// End of the session unless it is refreshed (RFC 4028); nil without a session timer.
    public var sessionUntil: Int64?
    /// Identifier and SIP Call-ID of the present attempt; nil for the first one.
    ///
    /// The Call-ID is empty if only the identifier differs from the first attempt.
    public var attempt: (call: CallIdentifier, sipCallID: String)? {
        get { attemptCall.map { ($0, shared.texts.attemptSIPCallID) } }
        set {
            attemptCall = newValue?.call
            texts.attemptSIPCallID = newValue?.sipCallID ?? ""
        }
    }
    private var attemptCall: CallIdentifier?
    /// Nil while the call is open.
    public var outcome: CallOutcome?
    /// False if the end was assumed and not seen; the call has no duration then.
    public var endIsKnown = true

    public init(
        call: CallIdentifier, direction: CallUpdate.Direction, sipCallID: String = "", trunk: String? = nil,
        caller: E164Number? = nil, destination: E164Number? = nil, subscriber: String = "", brandID: String? = nil,
        brandName: String? = nil, carrierName: String? = nil, customer: String? = nil,
        reason: PassThroughReason? = nil, inviteAt: Int64
    ) {
        self.call = call
        self.direction = direction
        shared = Shared(
            Texts(
                sipCallID: sipCallID, trunk: trunk, subscriber: subscriber, brandID: brandID, brandName: brandName,
                carrierName: carrierName, customer: customer))
        self.caller = caller
        self.destination = destination
        self.reason = reason
        self.inviteAt = inviteAt
    }

    /// Begins the record with an `invite` update.
    ///
    /// - Parameters:
    ///   - trunk: the configured name of the update's trunk.
    ///   - customer: the name of the update's customer.
    ///   - signer: the signer of the update's verdict; nil if it is not known any more.
    public init(
        _ update: CallUpdate, texts: CallTexts?, trunk: String?, customer: String? = nil, signer: Signer? = nil
    ) {
        let isBranded = update.isBranded
        // Signed values have a name, and are no brand of the directory. In shadow the record has the name that was not written.
        let isInShadow = update.direction == .inbound && update.reason == .shadow
        let isNamed = isBranded || isInShadow || update.direction == .inbound && update.reason == .signedName
        let texts = texts ?? CallTexts()
        // The call path leaves a withheld number out. This is the second check.
        let caller = update.reason == .privacy ? nil : E164Number(digits: update.caller)
        self.init(
            call: update.call, direction: update.direction, sipCallID: Self.text(texts.sipCallID) ?? "", trunk: trunk,
            caller: caller, destination: E164Number(digits: update.destination),
            subscriber: Self.text(texts.subscriber) ?? "",
            brandID: isBranded || isInShadow ? Self.text(texts.brandID) : nil,
            brandName: isNamed ? Self.text(texts.brandName) : nil,
            carrierName: isNamed ? Self.text(texts.carrierName) : nil, customer: customer, reason: update.reason,
            inviteAt: update.wallMicroseconds)
        evidence = update.evidence
        isForwarded = update.marks.contains(.forwarded)
        machine = update.marks.machine
        // The call path leaves a withheld caller out here as well.
        if direction == .inbound, !isBranded, !isInShadow, caller == nil, update.reason != .privacy {
            callerReceived = Self.text(texts.callerReceived)
        }
        if let trust = update.trust { take(trust, of: signer) }
    }

    public var sipCallID: String { shared.texts.sipCallID }
    /// Configured name of the trunk; nil if the configuration no longer has it.
    public var trunk: String? { shared.texts.trunk }
    /// The customer of the call; nil without customers.
    public var customer: String? { shared.texts.customer }
    /// The called PBX user (inbound) or the calling one (outbound); empty when unknown.
    public var subscriber: String { shared.texts.subscriber }
    /// Identifier of the brand shown, or of the one that a call in shadow would have shown; nil without one.
    public internal(set) var brandID: String? {
        get { shared.texts.brandID }
        set { texts.brandID = newValue }
    }
    public internal(set) var brandName: String? {
        get { shared.texts.brandName }
        set { texts.brandName = newValue }
    }
    /// The carrier's name that the brand's name replaced, or would have in shadow.
    public internal(set) var carrierName: String? {
        get { shared.texts.carrierName }
        set { texts.carrierName = newValue }
    }
    /// The caller as the carrier wrote it, if that is no certain number; nil when withheld.
    public var callerReceived: String? {
        get { shared.texts.callerReceived }
        set { texts.callerReceived = newValue }
    }
    /// Further parties that the carrier rang under the same Call-ID; each may return the call.
    public var alsoCalled: [CalledParty] {
        get { shared.texts.alsoCalled }
        set { texts.alsoCalled = newValue }
    }
    /// The verdict on the signed header fields of the first INVITE, without the row of the signer; nil for none.
    ///
    /// A withheld caller has no `origid` here: it may be the same for all calls of one customer (RFC 8588 §5).
    public var trust: TrustEvidence? {
        get { shared.texts.trust }
        set { texts.trust = newValue }
    }
    /// True for an INVITE that the gateway rejected for its signature: no attempt follows under this record.
    public var isRejected: Bool { trust?.isRejected ?? false }
    /// The first provider code of the signer's certificate, else its first number without plus sign; nil for none.
    public var provider: String? {
        get { shared.texts.provider }
        set { texts.provider = newValue }
    }
    /// The subject of the signer's certificate; nil for an unknown signer. Foreign text.
    public var signer: String? {
        get { shared.texts.signer }
        set { texts.signer = newValue }
    }
    /// Calls of other gateways that were earlier attempts of this one, and are counted in `attempts`.
    public var earlierAttempts: [CallIdentifier] {
        get { shared.texts.earlierAttempts }
        set { texts.earlierAttempts = newValue }
    }

    /// True for one attempt of a certain caller that rang one party, without a forward, a machine, a cause in SIP and a
    /// verdict.
    public var isUsual: Bool {
        attemptCall == nil && attemptAt == nil && refusedAt == nil && sipCause == 0 && !isForwarded && machine == nil
            && shared.texts.isUsual
    }

    /// The destination: the called number, else the PBX user; empty when neither is known.
    public var called: String { destination?.description ?? subscriber }

    /// The identifier in updates: that of the latest attempt.
    public var name: CallIdentifier { attempt?.call ?? call }

    /// Gets an identifier of its own after an earlier call to another destination used the same one.
    public mutating func becomeAnother() {
        attempt = (call, "")
        call = call.toward(called)
    }

    /// Time of the last message of the call.
    var lastMessageAt: Int64 {
        func later(_ last: Int64, _ time: Int64?) -> Int64 { max(last, time ?? last) }
        let untilAnswered = later(later(later(inviteAt, progressAt), ringingAt), answeredAt)
        return later(later(later(untilAnswered, cancelledAt), refusedAt), endedAt)
    }

    /// Shifts all times by a step of the wall clock, in microseconds; durations stay.
    mutating func clockWasSet(by step: Int64) {
        inviteAt &+= step
        progressAt? &+= step
        ringingAt? &+= step
        answeredAt? &+= step
        cancelledAt? &+= step
        refusedAt? &+= step
        sessionUntil? &+= step
        attemptAt? &+= step
    }

    /// True when the call's inbound INVITE left with a brand.
    public var isBranded: Bool { direction == .inbound && reason == nil }
    /// True for a call of a trunk or a route in shadow, whatever was decided: the directory learns nothing of it.
    public var isInShadow: Bool { reason == .shadow || evidence?.isInShadow ?? false }
    /// True for a call that a PBX reported by a door, and that never passed this gateway.
    public var isByDoor: Bool { evidence?.isByDoor ?? false }
    /// True if the name is that of a signature alone: foreign text, and no brand of the directory.
    public var isNamedBySigner: Bool {
        reason == .signedName || reason == .shadow && evidence?.isNamedBySigner ?? false
    }
    /// The brand that a call in shadow would have shown; nil for every other call, and for signed values alone.
    public var brandInShadow: String? { reason == .shadow && !isNamedBySigner ? brandName : nil }
    /// True if the directory has no brand for the caller of an inbound call and may be asked for one, whatever a signature has.
    public var isUnknownCaller: Bool {
        guard direction == .inbound, !isInShadow else { return false }
        return reason == .noMatch || reason == .signedName && evidence?.lookup == .noBrand
    }

    /// Begin of alerting, if the call alerted: the first 180, else the first 183.
    public var alertedAt: Int64? { ringingAt ?? progressAt }

    /// The machine that answered; nil for a person and before a 2xx.
    public var answeredBy: CallAnswerer? { answeredAt == nil ? nil : machine }

    /// Whole seconds from alerting to 2xx or end; nil when either is unknown, or no phone is known to have rung.
    public var ringSeconds: Int? {
        guard reach != nil, let alertedAt, let until = answeredAt ?? (endIsKnown ? endedAt : nil) else { return nil }
        return Self.seconds(from: alertedAt, to: until)
    }

    /// Whole seconds from 2xx to BYE; nil without a 2xx or a BYE, and for voicemail.
    public var callSeconds: Int? {
        guard let answeredAt, let endedAt, endIsKnown, machine != .voicemail else { return nil }
        return Self.seconds(from: answeredAt, to: endedAt)
    }

    /// `matched`, or the reason for a call without a brand.
    public var decision: String { reason?.description ?? Self.matched }

    private static let matched = "matched"

    /// The reason of a stored decision; nil for `matched` only.
    ///
    /// A decision that this version does not know becomes `error`, because such a call is not known to be branded.
    public static func reason(ofDecision text: String) -> PassThroughReason? {
        text == matched ? nil : PassThroughReason.allCases.first { $0.description == text } ?? .error
    }

    /// The duration, or nil after a step back of the wall clock.
    private static func seconds(from start: Int64, to end: Int64) -> Int? {
        end >= start ? Int((end - start) / 1_000_000) : nil
    }

    /// The part of a SIP Call-ID that a record keeps: its first `CallTexts.limits.sipCallID` bytes.
    public static func keptCallID(_ callID: String) -> String {
        text(Array(callID.utf8.prefix(CallTexts.limits.sipCallID))) ?? ""
    }

    /// A text of the ring without a character that the limit has cut in two; nil when empty.
    static func text(_ bytes: [UInt8]?) -> String? {
        guard let bytes, !bytes.isEmpty else { return nil }
        var count = bytes.count
        // A cut character has at most three continuation bytes at the end; drop them with their first byte.
        if let last = bytes.last, last >= 0x80, String(validating: bytes, as: UTF8.self) == nil {
            var lead = count - 1
            while lead > 0, count - lead < 4, bytes[lead] & 0xC0 == 0x80 { lead -= 1 }
            if bytes[lead] >= 0xC0 { count = lead }
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}

extension CallRecord {
    /// Takes the longer destination of `next`; see `isIncomplete(before:)`.
    mutating func take(digitsOf next: CallRecord) {
        guard direction == .inbound else { return destination = next.destination }
        take(party: next.party)
    }

    /// Takes another called party into the account.
    mutating func take(party: CalledParty) {
        destination = party.number
        texts.subscriber = party.user
    }

    /// The texts of a record, which few updates change.
    private struct Texts: Hashable, Sendable {
        var sipCallID: String
        var trunk: String?
        var subscriber: String
        var brandID: String?
        var brandName: String?
        var carrierName: String?
        var customer: String?
        var callerReceived: String?
        var alsoCalled: [CalledParty] = []
        var earlierAttempts: [CallIdentifier] = []
        var attemptSIPCallID = ""
        var trust: TrustEvidence?
        var provider: String?
        var signer: String?

        var isUsual: Bool {
            callerReceived == nil && alsoCalled.isEmpty && earlierAttempts.isEmpty && trust == nil && provider == nil
                && signer == nil
        }
    }

    /// One object, because a record is copied some ten times a call.
    private final class Shared: Hashable, Sendable {
        let texts: Texts

        init(_ texts: Texts) { self.texts = texts }

        static func == (one: Shared, other: Shared) -> Bool { one === other || one.texts == other.texts }

        func hash(into hasher: inout Hasher) { hasher.combine(texts) }
    }

    /// A change makes another object.
    private var texts: Texts {
        get { shared.texts }
        set { if newValue != shared.texts { shared = Shared(newValue) } }
    }
}

extension CallRecord {
    /// Takes the verdict on the INVITE, with the texts that name its signer.
    ///
    /// A certificate without a provider code is one for numbers (RFC 9060). Its numbers and its subject may name a
    /// withheld caller. The row of the signer is left out: it has another meaning once the signers are imported anew.
    private mutating func take(_ verdict: TrustEvidence, of signer: Signer?) {
        let isWithheld = reason == .privacy
        var texts = texts
        var verdict = verdict
        verdict.signer = 0
        if isWithheld { verdict.origid = nil }
        texts.trust = verdict
        if let signer, !isWithheld || !signer.authority.codes.isEmpty {
            // Anybody can name a signer. A good signature alone proves that the call is the signer's.
            if verdict.hasPassed { texts.provider = signer.provider }
            texts.signer = signer.subject.isEmpty ? nil : signer.subject
        }
        self.texts = texts
    }
}

extension CallUpdate.Marks {
    /// The machine that picks up; voicemail takes precedence.
    var machine: CallAnswerer? {
        if contains(.voicemail) { return .voicemail }
        return contains(.system) ? .system : nil
    }
}

// Overlap dialling (RFC 3578 §3.1): an exchange with only the first digits sends an INVITE, and 484 asks for more
// digits (RFC 3261 §21.4.22). The INVITEs share Call-ID and From tag and are one call.

extension CallRecord {
    /// True if 484 has asked for more digits and the next INVITE of the call brings them.
    ///
    /// The next called user begins with the digits so far. An outbound call keeps only the number, and an incomplete
    /// number decides nothing.
    public func isIncomplete(before next: CallRecord) -> Bool {
        guard refusedAt != nil, status == 484 else { return false }
        if direction == .inbound, !subscriber.isEmpty, next.subscriber.hasPrefix(subscriber) { return true }
        guard let destination, let further = next.destination else { return direction == .outbound }
        return further.description.hasPrefix(destination.description)
    }
}

extension CallRecord {
    /// The events of the call that were seen here, as updates for the gateway that goes on with it.
    ///
    /// An update that is known there changes nothing. Only the reason of an INVITE is certain, and an earlier version of Herald
    /// does not read an update with a reason that it does not know.
    public var facts: [CallUpdate] {
        var facts: [CallUpdate] = []
        func add(_ kind: CallUpdate.Kind, _ time: Int64?, status: UInt16 = 0) {
            guard let time else { return }
            var update = CallUpdate(
                kind: kind, direction: direction, call: name, wallMicroseconds: max(0, time), status: status,
                reason: reason == nil ? nil : .noMatch)
            if isForwarded { update.marks.insert(.forwarded) }
            if machine == .voicemail { update.marks.insert(.voicemail) }
            if machine == .system { update.marks.insert(.system) }
            if kind == .cancelled { (update.q850Cause, update.sipCause) = (q850Cause, sipCause) }
            if kind == .answered, !alsoCalled.isEmpty { update.calledMark = name.mark(ofCalled: called) }
            if kind == .answered, let sessionUntil, sessionUntil > time {
                update.sessionSeconds = UInt32(clamping: (sessionUntil - time) / 1_000_000)
            }
            facts.append(update)
        }
        add(.provisional, progressAt, status: 183)
        add(.provisional, ringingAt, status: 180)
        add(.failed, refusedAt, status: status)
        add(.answered, answeredAt, status: 200)
        add(.cancelled, cancelledAt)
        return facts.sorted { $0.wallMicroseconds < $1.wallMicroseconds }
    }
}
