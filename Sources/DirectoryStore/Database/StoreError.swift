// SPDX-License-Identifier: Apache-2.0

/// Refusals of a write that any part of the database can give.
package enum StoreError: Error, Hashable {
    /// More writes wait than the disk takes; the same write may succeed in a moment.
    case busy
    /// The account's clients have stored their bytes of this day; the next day begins in `secondsLeft` seconds.
    case quotaReached(secondsLeft: Int64)
    /// The account has as many devices as it may have.
    case tooManyDevices(Int)

    /// The quota of the day of `now`, in seconds since 1970.
    static func quotaReached(now: Int64) -> StoreError { .quotaReached(secondsLeft: 86_400 - now % 86_400) }
}

/// A row is missing that another row requires: a fault of the program or a damaged database.
struct InconsistentStore: Error, CustomStringConvertible {
    let description: String
}
