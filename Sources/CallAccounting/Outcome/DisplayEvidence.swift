// SPDX-License-Identifier: Apache-2.0

/// Evidence that a phone showed the caller's identity.
///
/// The contract bills `displayed`, and allows it only where the identity was shown (securenode-endpoint-contract §7).
///
/// | seen | evidence |
/// |---|---|
/// | 180 | at once: a phone alerts the user (RFC 3261 §21.1.2) |
/// | 2xx of a person | at once |
/// | 2xx of a machine | none: it has no display |
/// | 183 | at the end, if the call ends as a ringing one does: 183 carries ringing and announcements alike (§21.1.5) |
/// | 181, 182, 199 | none: a forwarded call, a queue, a fork that ended (§21.1.3, §21.1.4, RFC 6228) |
/// | a report of a PBX | as above, if the PBX states that a phone showed the brand's name; else none |
public enum DisplayEvidence: String, Hashable, Sendable {
    case alerting
    case answered
}

extension CallRecord {
    /// Evidence that the brand's name was shown; nil for a call without a brand.
    public var displayEvidence: DisplayEvidence? { isBranded && !isUnconfirmed ? reach : nil }

    /// True for a report of a PBX that does not state that a phone showed the name.
    private var isUnconfirmed: Bool { isByDoor && evidence?.isNamed != true }

    /// Time at which the other side alerted, or answered without an alert; nil without evidence of either.
    public var reachedAt: Int64? { reach == nil ? nil : alertedAt ?? answeredAt }

    /// Whether a phone of the other side alerted, or sent a 2xx; an inbound call counts only if its name was shown.
    public var isReached: Bool { direction == .outbound ? reach != nil : displayEvidence != nil }

    /// Evidence that a phone of the other side alerted or was answered, whatever it showed.
    var reach: DisplayEvidence? {
        if ringingAt != nil { return .alerting }
        if answeredAt != nil { return direction == .inbound && machine != nil ? nil : .answered }
        guard progressAt != nil, endedAt != nil, endIsKnown else { return nil }
        return ending.hasRung ? .alerting : nil
    }

    /// The end of a call without a 2xx, as far as it was seen.
    var ending: CallEnding {
        CallEnding(
            status: status >= 300 ? status : 0, q850Cause: q850Cause, sipCause: sipCause, rang: ringingAt != nil,
            alerted: alertedAt != nil, cancelled: cancelledAt != nil)
    }
}
