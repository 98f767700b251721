// SPDX-License-Identifier: Apache-2.0

public import Branding

/// Decides whether an outbound call returns a branded inbound call; pure, the ledger looks calls up.
///
/// The same subscriber calls the brand's number within the window after the end of the original. The newest original
/// counts. A return settles it and the older ones, so one call back is one return.
public struct ReturnPolicy: Hashable, Sendable {
    /// The originals that count.
    public enum Originals: String, Hashable, Sendable, CaseIterable {
        /// Missed, busy and declined ones.
        case unanswered
        /// Answered ones too, here or at another phone.
        case any
    }

    /// Longest time between the end of the original and the return call, in seconds; 72 hours.
    public var window: Int64
    public var originals: Originals
    /// Subscribers that belong together: PBX user or `+number` → name of the group (a DID and its extensions).
    public var groups: [String: String]
    /// The same of each customer, by its name.
    public var customers: [String: [String: String]] = [:]

    public init(window: Int64 = 259_200, originals: Originals = .unanswered, groups: [String: String] = [:]) {
        self.window = window
        self.originals = originals
        self.groups = groups
    }

    /// True for an ended call that may be returned: branded, shown, with a known subscriber.
    public func isOriginal(_ record: CallRecord) -> Bool {
        guard record.displayEvidence != nil, record.caller != nil, let outcome = record.outcome else { return false }
        return switch originals {
        case .unanswered: outcome.isUnanswered
        case .any: true
        }
    }

    /// The names of the call's own side, best first; empty when it is unknown.
    ///
    /// The group if there is one, else the number, else the PBX user. An extension may be called by its number and call
    /// out with its user name. So an outbound call is looked up under each name. A name of a customer's call begins with
    /// the customer, so a call back never finds a call of another customer.
    public func subscriberKeys(of record: CallRecord) -> [String] {
        let number = record.direction == .inbound ? record.destination : record.caller
        return keys(of: CalledParty(number: number, user: record.subscriber), customer: record.customer)
    }

    /// The names under which an inbound call may be returned: the best one of each called party, that of the account first.
    public func originalKeys(of record: CallRecord) -> [String] {
        record.parties.reduce(into: []) { keys, party in
            guard let key = self.keys(of: party, customer: record.customer).first, !keys.contains(key) else { return }
            keys.append(key)
        }
    }

    /// Whether a caller is the party that a call rang, as far as names show it.
    ///
    /// - Parameters:
    ///   - customer: the customer of the caller's call; nil for none.
    ///   - other: the customer of the call that rang; nil for none.
    public func isSubscriber(
        _ caller: CalledParty, of customer: String?, thatWasCalled called: CalledParty, of other: String?
    ) -> Bool {
        guard let key = keys(of: called, customer: other).first else { return false }
        return keys(of: caller, customer: customer).contains(key)
    }

    private func keys(of party: CalledParty, customer: String?) -> [String] {
        guard let customer else { return names(of: party, groups) }
        return names(of: party, customers[customer] ?? [:]).map { customer + "/" + $0 }
    }

    private func names(of party: CalledParty, _ groups: [String: String]) -> [String] {
        let number = party.number?.description
        let user = party.user.isEmpty ? nil : party.user
        if !groups.isEmpty {
            if let group = user.flatMap({ groups[$0] }) ?? number.flatMap({ groups[$0] }) { return ["group:" + group] }
        }
        var keys: [String] = []
        if let number { keys.append(number) }
        if let user {
            // A user part that is itself a number is that number.
            let key = E164Number(user)?.description ?? "user:" + user
            if key != number { keys.append(key) }
        }
        return keys
    }

    /// Whole seconds between the end of the original and the outbound INVITE; nil when outside the window.
    ///
    /// - Parameters: microseconds since 1970.
    public func latency(originalEnd: Int64, outboundInvite: Int64) -> Int? {
        let elapsed = outboundInvite - originalEnd
        guard elapsed >= 0, elapsed <= window * 1_000_000 else { return nil }
        return Int(elapsed / 1_000_000)
    }
}

/// An ended branded call that is returned, as found in the ledger.
public struct ReturnedOriginal: Hashable, Sendable {
    /// Its call id, in the form of `CallIdentifier.description`.
    public var callID: String
    /// The brand's number: the caller of the original, the called number of the return.
    public var number: E164Number
    public var brandID: String?
    /// Microseconds since 1970.
    public var endedAt: Int64
    /// The directory's id of the original's `call_seen` or `missed` event; nil until the directory has responded.
    public var eventID: String?

    public init(callID: String, number: E164Number, brandID: String?, endedAt: Int64, eventID: String?) {
        self.callID = callID
        self.number = number
        self.brandID = brandID
        self.endedAt = endedAt
        self.eventID = eventID
    }
}
