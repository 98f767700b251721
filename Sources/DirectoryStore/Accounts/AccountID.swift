// SPDX-License-Identifier: Apache-2.0

/// Which account brands, keys, events and devices belong to.
package struct AccountID: Hashable, Sendable {
    /// The row in the table of accounts.
    let row: Int64

    /// The account a new database has.
    package static let first = AccountID(row: 1)
}
