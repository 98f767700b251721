// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallPath

/// Finds calling names by the decision of calls.
package struct CallingNames: Sendable {
    /// The response for a number without a brand.
    package enum Missing: String, Hashable, Sendable, CaseIterable {
        /// No record, so a client leaves the call as it is.
        case none
        /// A record with `unavailable`.
        case unavailable
    }

    private let names: DoorNames
    private let umlauts: CallingName.Umlauts
    private let missing: Missing
    private let shortNames: [String: CallingName]

    /// - Parameter shortNames: names of brands, by the directory's identifier, in place of their display names.
    package init(
        _ names: DoorNames, umlauts: CallingName.Umlauts = .plain, missing: Missing = .none,
        shortNames: [String: CallingName] = [:]
    ) {
        (self.names, self.umlauts) = (names, umlauts)
        (self.missing, self.shortNames) = (missing, shortNames)
    }

    /// The record of a number; nil for a number without one.
    ///
    /// A brand whose name has no form in ASCII counts as a number without a brand. Any thread; no I/O.
    package func record(of number: E164Number) -> CallingNameRecord? {
        let caller = names.name(of: StatedCall(number: Array(number.description.utf8)))
        if caller.isBranded {
            let short = caller.brandID.flatMap { shortNames[$0] }
            if let name = short ?? CallingName(caller.text, umlauts: umlauts) { return .name(name) }
        }
        guard missing == .unavailable else { return nil }
        return .unavailable(caller.reason == .privacy ? .withheld : .unknown)
    }
}
