// SPDX-License-Identifier: Apache-2.0

/// Classifies `config.account_status`, a field whose values the contract does not list.
///
/// Only values that end an account close the gate. Billing systems use many other values, so an unknown value never
/// stops branding. Source: securenode-endpoint-contract §5.
public enum AccountStatus: Hashable, Sendable {
    /// `active` or `trial`.
    case open
    /// `suspended`, `closed`, `cancelled` or `canceled`.
    case ended
    /// Any other value. `branding_enabled` decides.
    case unknown

    /// Parses the directory's value. Ignores case and surrounding white space.
    public init(_ text: String) {
        switch Self.normal(text) {
        case "active", "trial": self = .open
        case "suspended", "closed", "cancelled", "canceled": self = .ended
        default: self = .unknown
        }
    }

    /// Returns the value in lower case, without surrounding white space.
    public static func normal(_ text: String) -> String {
        let text = text.lowercased()
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(text[first...last])
    }
}
