// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The counts of devices by account, counted again once a minute: a count of a million rows takes some milliseconds.
///
/// Thread-safe.
final class DeviceCounts: Sendable {
    private struct Count {
        var devices: Int
        let until: ContinuousClock.Instant
    }

    private let counts = Mutex<[AccountID: Count]>([:])
    private let table: String

    /// - Parameter table: the table of the devices, which has a column `account`.
    init(table: String = "device") { self.table = table }

    /// The devices of an account; those that other nodes have registered in the last minute may be missing.
    func count(of account: AccountID, _ database: any SQLConnection) throws -> Int {
        let now = ContinuousClock.now
        if let count = counts.withLock({ $0[account] }), now < count.until { return count.devices }
        let devices =
            try database.value(Int.self, "SELECT count(*) FROM \(table) WHERE account = ?", [account.row]) ?? 0
        counts.withLock { $0[account] = Count(devices: devices, until: now + .seconds(60)) }
        return devices
    }

    /// Counts a device that was registered.
    func add(to account: AccountID) { counts.withLock { $0[account]?.devices += 1 } }
}
