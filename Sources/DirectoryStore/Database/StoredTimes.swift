// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

extension DirectoryDatabase {
    /// Finds a clock that is wrong or was wrong when something was stored.
    ///
    /// A change or an event of the future shows it. Two reads of an index for each account.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: the problem with its remedy; nil for a right clock.
    package func clockProblem(now: Int64) throws -> String? {
        let newest = try pool.read { database in
            let changed = try database.value(Int64.self, Self.newest("updated", of: "brand_number", by: "change"))
            let received = try database.value(Int64.self, Self.newest("received", of: "event", by: "received"))
            return max(changed ?? 0, received ?? 0)
        }
        guard newest > now + 60 else { return nil }
        return
            "The clock of this machine is wrong: the database has an entry of \(Timestamp.string(from: newest)), which is in the future. The clock was wrong then or is wrong now. Let chrony or systemd-timesyncd set it."
    }

    private static func newest(_ column: String, of table: String, by order: String) -> String {
        """
        SELECT max(newest) FROM (
            SELECT (SELECT \(column) FROM \(table) WHERE \(table).account = account.id ORDER BY \(order) DESC LIMIT 1)
                AS newest FROM account) AS accounts
        """
    }
}
