// SPDX-License-Identifier: Apache-2.0

/// Spreads the sets of signers that calls alone have changed, since each set is built as a whole. For one task.
///
/// Ten come at once. From then on there is one in 30 s, until calls have changed nothing for a while.
struct SnapshotPace {
    /// The most sets at once.
    static let burst: Int64 = 10
    /// Seconds in which one more set is permitted.
    static let interval: Int64 = 30

    /// The sets that are permitted now.
    private var permitted = Self.burst
    /// The time at which the last one of them was added.
    private var addedAt = Int64.min / 2

    /// Takes the permission for one set; false without one. Times are seconds of the steady clock.
    mutating func take(at now: Int64) -> Bool {
        let added = min((now - addedAt) / Self.interval, Self.burst - permitted)
        if permitted + added >= Self.burst {
            (permitted, addedAt) = (Self.burst, now)
        } else {
            permitted += added
            addedAt += added * Self.interval
        }
        guard permitted > 0 else { return false }
        permitted -= 1
        return true
    }

    /// Returns a permission that nothing was built for.
    mutating func giveBack() { permitted = min(permitted + 1, Self.burst) }
}
