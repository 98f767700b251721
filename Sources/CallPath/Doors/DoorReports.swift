// SPDX-License-Identifier: Apache-2.0

public import Branding
public import CallAccounting
import SIPCore

/// Accounts for calls that a PBX reports, whose names it got by a door: the same updates as of a call that passes.
///
/// A report is joined with the newest name that a door gave for its number, from `margin` before the call began to `margin`
/// after the phone rang. Without one the call is recorded as not branded. Any thread; it waits for nothing.
public struct DoorReports: Sendable {
    private let names: DoorNames
    private let given: GivenNames
    private let updates: UpdateRing

    /// The error of a PBX's clock, and the time from the begin of a call to its lookup; microseconds.
    public static let margin: Int64 = 60_000_000
    /// The time before the start in which a call may end that an earlier process named: microseconds.
    private static let restart: Int64 = 300_000_000

    /// - Parameters:
    ///   - names: the decision of the trunk whose rules apply.
    ///   - given: the names that doors gave by the rules of that trunk.
    public init(_ names: DoorNames, given: GivenNames, updates: UpdateRing) {
        (self.names, self.given, self.updates) = (names, given, updates)
    }

    /// A call on its way into the ledger.
    public struct Report: Hashable, Sendable {
        /// Its identifier, which the keys of its events have.
        public let call: CallIdentifier
        /// Nil for a call that counts as branded.
        public let reason: PassThroughReason?
        /// Whether the PBX reported that a phone showed the name.
        public let isShown: Bool
        /// The ring's number that is released once the call is stored.
        public let position: UInt64
    }

    /// The identifiers of a call: by the present secret, and by those before it.
    ///
    /// A report that is repeated with the same Call-ID has the same identifiers, whatever else it has.
    public func identifiers(of outcome: StatedOutcome) -> [CallIdentifier] {
        sequence(first: names.settings.load().secret, next: \.previous).map { secret in
            var hash = secret.hash(for: .reportedCall)
            hash.combine(Array(names.trunk.utf8)[...])
            hash.combine(outcome.callID[...])
            let (high, low) = hash.finishWide()
            return CallIdentifier(high: high, low: low)
        }
    }

    /// Whether the ledger has all updates up to a number of the ring.
    public func isStored(through position: UInt64) -> Bool { updates.released >= position }

    /// Puts the call into the ring, whole or not at all; nil if the ring sheds it, or without the trunk.
    ///
    /// A repeated report of a call in the ring changes nothing.
    public func report(_ outcome: StatedOutcome) -> Report? {
        guard let decision = names.decision(on: outcome.call), let call = identifiers(of: outcome).first else {
            return nil
        }
        let (brand, reason) = brand(of: outcome, decision)
        var evidence = decision.evidence
        evidence.isNamed = reason == nil && Self.shows(outcome, brand)
        var invite = CallUpdate(
            kind: .invite, direction: .inbound, call: call, wallMicroseconds: outcome.began,
            trunk: decision.trunk.mark, caller: decision.caller.number?.digits ?? 0,
            destination: decision.called.number?.digits ?? 0, reason: reason)
        invite.evidence = evidence
        invite.customer = brand?.customer ?? decision.called.route?.customer?.mark ?? 0
        let texts = texts(of: outcome, decision, brand)
        guard let position = updates.append(whole: [invite] + outcome.course(of: invite), texts: texts) else {
            return nil
        }
        return Report(call: call, reason: reason, isShown: evidence.isNamed, position: position)
    }

    /// The brand of a call and the reason against it.
    private func brand(
        of outcome: StatedOutcome, _ decision: DoorDecision
    ) -> (GivenNames.Name?, PassThroughReason?) {
        switch decision.reason {
        // Reasons that the report alone may show, and the operator's will.
        case .privacy, .emergency: return (nil, decision.reason)
        case .shadow: return (decision.brand, .shadow)
        default: break
        }
        if let number = decision.caller.number, decision.brands != .shadow,
            let name = given.newest(
                of: number, in: outcome.lookupSpan, for: decision.called.route?.customer?.mark ?? 0)
        {
            return (name, nil)
        }
        guard decision.reason == nil, let brand = decision.brand else { return (nil, decision.reason) }
        // Names from before the start are forgotten. The name on the phone then shows that a door gave it.
        if outcome.began < given.began, outcome.ended >= given.began - Self.restart, Self.shows(outcome, brand) {
            return (brand, nil)
        }
        return (nil, .notAsked)
    }

    /// Whether the PBX reports exactly the name that the door gave.
    private static func shows(_ outcome: StatedOutcome, _ brand: GivenNames.Name?) -> Bool {
        guard let brand, !brand.text.isEmpty else { return false }
        return StatedNumber.unquoted(outcome.shownName).elementsEqual(brand.text.utf8)
    }

    private func texts(of outcome: StatedOutcome, _ decision: DoorDecision, _ brand: GivenNames.Name?) -> CallTexts {
        var texts = CallTexts(
            sipCallID: outcome.callID, subscriber: Array(StatedNumber.trimmed(outcome.call.called)))
        if decision.caller.isWithheld {
            texts.sipCallID = WithheldCallID.name(of: outcome.callID[...], names.settings.load().secret)
        }
        if let brand {
            (texts.brandName, texts.brandID) = (Array(brand.text.utf8), Array(brand.brandID.utf8))
        } else if decision.caller.number == nil, !decision.caller.isWithheld {
            texts.callerReceived = Array(StatedNumber.trimmed(outcome.call.number))
        }
        return texts
    }
}

extension StatedOutcome {
    /// The time at which a door must have been asked for the name.
    fileprivate var lookupSpan: ClosedRange<Int64> {
        let last = min(rang ?? ended, answered ?? ended, ended)
        return began - DoorReports.margin...max(began, last) + DoorReports.margin
    }

    /// The updates behind the INVITE, which a passing call would have had.
    fileprivate func course(of invite: CallUpdate) -> [CallUpdate] {
        func update(_ kind: CallUpdate.Kind, _ time: Int64, status: UInt16 = 0, cause: UInt16 = 0) -> CallUpdate {
            CallUpdate(
                kind: kind, direction: .inbound, call: invite.call, wallMicroseconds: time, status: status,
                q850Cause: cause, trunk: invite.trunk, reason: invite.reason)
        }
        let ringing = rang.map { [update(.provisional, $0, status: 180)] } ?? []
        guard let answered else {
            let status = end.finalStatus
            let cancel = status == 487 ? [update(.cancelled, ended, cause: end.cause)] : []
            return ringing + cancel + [update(.failed, ended, status: status, cause: end.cause)]
        }
        var success = update(.answered, answered, status: 200)
        switch answerer {
        case .voicemail: success.marks = .voicemail
        case .system: success.marks = .system
        case nil: break
        }
        return ringing + [success, update(.bye, ended, cause: end.cause)]
    }
}
