// SPDX-License-Identifier: Apache-2.0

/// How `"` and `\` of names and reasons are written.
///
/// Asterisk keeps the backslashes of a quoted-string in the caller's name, so that phones show them.
package enum QuotePolicy: String, Hashable, Sendable, CaseIterable {
    /// Both are escaped with a backslash (RFC 3261 §25.1).
    case escape
    /// Quotes become “ and ”, a backslash becomes a slash; nothing is left to escape.
    case typographic
}
