// SPDX-License-Identifier: Apache-2.0

/// A value of one column of a call, as the ledger and the shared ledger have it.
package enum ColumnValue: Sendable, Hashable {
    case integer(Int64?)
    case text(String?)

    /// The text; nil for null and for an integer.
    package var text: String? {
        if case .text(let value) = self { value } else { nil }
    }

    /// The integer; nil for null and for a text.
    package var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }
}
