// SPDX-License-Identifier: Apache-2.0

/// A customer, as the page of customers shows it.
package struct PageCustomer: Hashable, Sendable {
    package var name: String
    /// Numbers that its calls can be branded from.
    package var numbers: Int
    package var brands: Int
    /// Another customer with the same directory account; nil for none.
    package var sharesAccountOf: String?
    /// The closed gate of its account; nil when its calls may be branded.
    package var gate: String?
    /// Seconds since the last good sync of its account; nil before the first.
    package var syncAge: Int64?
    /// Events that wait for its directory.
    package var waiting: Int
    /// Calls from trunks since the start.
    package var calls: UInt64
    /// Of those, calls that went on with a brand.
    package var branded: UInt64

    package init(
        name: String, numbers: Int, brands: Int, sharesAccountOf: String? = nil, gate: String? = nil,
        syncAge: Int64? = nil, waiting: Int = 0, calls: UInt64 = 0, branded: UInt64 = 0
    ) {
        self.name = name
        self.numbers = numbers
        self.brands = brands
        self.sharesAccountOf = sharesAccountOf
        self.gate = gate
        self.syncAge = syncAge
        self.waiting = waiting
        self.calls = calls
        self.branded = branded
    }
}
