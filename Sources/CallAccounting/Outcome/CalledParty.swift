// SPDX-License-Identifier: Apache-2.0

public import Branding

/// A called party: a number, a PBX user, or both.
public struct CalledParty: Hashable, Sendable {
    public let number: E164Number?
    /// Empty when unknown.
    public let user: String

    public init(number: E164Number?, user: String) { (self.number, self.user) = (number, user) }

    /// The number, else the user; empty when neither is known.
    public var name: String { number?.description ?? user }

    /// Parties as the ledger stores them: a line each, the number or a dash, a space, and the user.
    ///
    /// A user part of a Request-URI has no space (RFC 3261 §25.1).
    public static func stored(_ parties: [CalledParty]) -> String? {
        guard !parties.isEmpty else { return nil }
        return parties.map { "\($0.number?.description ?? "-") \($0.user)" }.joined(separator: "\n")
    }

    /// Reads what `stored` wrote.
    public static func parties(stored text: String?) -> [CalledParty] {
        (text ?? "").split(separator: "\n").map { line in
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            return CalledParty(number: E164Number(String(parts[0])), user: parts.count > 1 ? String(parts[1]) : "")
        }
    }
}

extension CallIdentifier {
    /// A mark of 28 bits, never 0, for one of the called parties of a call; it does not show the number.
    public func mark(ofCalled name: String) -> UInt32 {
        max(1, UInt32(truncatingIfNeeded: toward(name).low & 0x0FFF_FFFF))
    }
}

// A carrier may ring several numbers at once under one Call-ID and From tag (RFC 3261 §16.6, §16.7): one call, whose
// INVITEs differ in their Request-URI. Each of them gets the call, and one picks up.

extension CallRecord {
    /// The called party of the account.
    public var party: CalledParty { CalledParty(number: destination, user: subscriber) }

    /// All called parties, that of the account first.
    public var parties: [CalledParty] { [party] + alsoCalled }

    /// Whether an INVITE of the call went to a party of that name.
    func hasCalled(_ name: String) -> Bool { called == name || alsoCalled.contains { $0.name == name } }

    /// Most parties that one call rings.
    private static let mostParties = 32

    /// Adds the party of another INVITE; false for a known one, and for an outbound call.
    ///
    /// - Parameter isNext: the caller has given the present party up, as after a 3xx (RFC 3261 §8.1.3.4).
    mutating func call(also next: CalledParty, isNext: Bool) -> Bool {
        guard direction == .inbound, !next.name.isEmpty, !hasCalled(next.name),
            alsoCalled.count < Self.mostParties - 1
        else { return false }
        guard isNext || called.isEmpty else {
            alsoCalled.append(next)
            return true
        }
        if !called.isEmpty { alsoCalled.append(party) }
        take(party: next)
        return true
    }

    /// Makes the party of a mark that of the account; false for the present one, and for an unknown mark.
    mutating func answered(by mark: UInt32) -> Bool {
        guard mark != 0, let place = alsoCalled.firstIndex(where: { name.mark(ofCalled: $0.name) == mark }) else {
            return false
        }
        let answering = alsoCalled[place]
        alsoCalled[place] = party
        take(party: answering)
        return true
    }
}
