// SPDX-License-Identifier: Apache-2.0

/// Identifies the account that owns brands, keys, events and devices.
package struct AccountID: Hashable, Sendable {
    /// The row in the table of accounts.
    let row: Int64

    /// The account of a new database.
    package static let first = AccountID(row: 1)
}
