// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// The states that an account can be given; a database of an earlier version may have others, which stop branding.
package enum AccountState: String, Hashable, Sendable, CaseIterable {
    case active, trial
    case pastDue = "past_due"
    case suspended, cancelled, closed

    /// True if gateways may brand calls of the account.
    package var isOpen: Bool { self == .active || self == .trial }

    /// True for a stored value that lets gateways brand calls.
    package static func isOpen(_ text: String) -> Bool { AccountState(rawValue: text)?.isOpen == true }

    /// All states in one text.
    package static let all = allCases.map(\.rawValue).joined(separator: ", ")
}
