// SPDX-License-Identifier: Apache-2.0

import Branding
public import CallAccounting
import Synchronization

/// A customer of the gateway: the brands of its calls, its mark in cookies and updates, and its counts.
///
/// Any thread, no lock. A reload keeps the object of a customer whose directory account stays.
public final class CallCustomer: Sendable {
    public let name: String
    /// Its number in route cookies and call updates, over reloads and restarts; derived from its name and never 0.
    public let mark: UInt32
    /// Its brands and gates.
    public let branding: CurrentBranding
    private let calls = Atomic<UInt64>(0)
    private let brandedCalls = Atomic<UInt64>(0)

    public init(name: String, branding: CurrentBranding) {
        self.name = name
        mark = Self.mark(of: name)
        self.branding = branding
    }

    /// Bits of a mark: as many as the route cookie has beside its other facts.
    public static let markBits: UInt32 = 26

    /// The mark of a customer's name; two of a thousand names share one by a chance of 1 in 130.
    public static func mark(of name: String) -> UInt32 {
        let hash = stableHash(name)
        let folded = UInt32(truncatingIfNeeded: hash ^ hash >> 26 ^ hash >> 52) & (1 << markBits - 1)
        return max(1, folded)
    }

    /// Calls to the customer since the start of the program.
    public var callCount: UInt64 { calls.load(ordering: .relaxed) }
    /// Those of them that left with a brand.
    public var brandedCallCount: UInt64 { brandedCalls.load(ordering: .relaxed) }

    func count(isBranded: Bool) {
        calls.wrappingAdd(1, ordering: .relaxed)
        if isBranded { brandedCalls.wrappingAdd(1, ordering: .relaxed) }
    }
}
