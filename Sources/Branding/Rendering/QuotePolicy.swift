// SPDX-License-Identifier: Apache-2.0

/// The treatment of `"` and `\` in names and call reasons.
///
/// Asterisk keeps the backslashes of a quoted-string in the caller's name, so phones show them.
package enum QuotePolicy: String, Hashable, Sendable, CaseIterable {
    /// Escapes both with a backslash (RFC 3261 §25.1).
    case escape
    /// Replaces quotes by “ and ” and backslashes by slashes, so that no escape is needed.
    case typographic
}
