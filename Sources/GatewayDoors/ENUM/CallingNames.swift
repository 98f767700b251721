// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallPath

/// Finds calling names by the decision of calls.
package struct CallingNames: Sendable {
    private let names: DoorNames
    private let umlauts: CallingName.Umlauts
    private let reportsUnknown: Bool
    private let shortNames: [String: CallingName]

    /// - Parameters:
    ///   - reportsUnknown: true for a record with `unavailable` for a number without a brand; false for no record, so that a client
    ///     leaves the call as it is.
    ///   - shortNames: names of brands, by the directory's identifier, in place of their display names.
    package init(
        _ names: DoorNames, umlauts: CallingName.Umlauts = .plain, reportsUnknown: Bool = false,
        shortNames: [String: CallingName] = [:]
    ) {
        (self.names, self.umlauts) = (names, umlauts)
        (self.reportsUnknown, self.shortNames) = (reportsUnknown, shortNames)
    }

    /// The record of a number.
    ///
    /// A brand whose name has no form in ASCII counts as a number without a brand. Any thread; no I/O.
    package func find(_ number: E164Number) -> FoundCallingName {
        let caller = names.name(of: StatedCall(number: Array(number.description.utf8)))
        if caller.isBranded {
            let short = caller.brandID.flatMap { shortNames[$0] }
            if let name = short ?? CallingName(caller.text, umlauts: umlauts) {
                return FoundCallingName(.name(name))
            }
        }
        let missing = CallingNameRecord.unavailable(caller.reason == .privacy ? .withheld : .unknown)
        return FoundCallingName(reportsUnknown ? missing : nil, isInShadow: caller.reason == .shadow)
    }
}
