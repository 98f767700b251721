// SPDX-License-Identifier: Apache-2.0

/// The meaning of `config.account_status`, whose values the contract does not list.
///
/// Only values that end an account close the gate. Billing systems have many others, and a value that nobody here knows
/// must not stop branding. Source: securenode-endpoint-contract §5.
package enum AccountStatus: Hashable, Sendable {
    /// `active` or `trial`.
    case open
    /// `suspended`, `closed` or `cancelled`, also as `canceled`.
    case ended
    /// Any other value: `branding_enabled` decides.
    case unknown

    /// Reads the value as a directory sends it; case, and blanks around it, do not count.
    package init(_ text: String) {
        switch Self.normal(text) {
        case "active", "trial": self = .open
        case "suspended", "closed", "cancelled", "canceled": self = .ended
        default: self = .unknown
        }
    }

    /// The value in lower case, without blanks around it.
    package static func normal(_ text: String) -> String {
        let text = text.lowercased()
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(text[first...last])
    }
}
