// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// Counts and problems of keys, events and logos for an operator; no secret and no telephone number.
package struct OperatorFigures: Hashable, Sendable {
    /// A rotated key that will end.
    package struct EndingKey: Hashable, Sendable {
        package let account: String
        package let name: String
        /// The identifier of `AccountStore.KeyRow`.
        package let id: String
        /// Seconds since 1970.
        package let ends: Int64
        /// True if a client used it after its successor was made.
        package let isInUse: Bool
    }

    /// Keys that open the contract, without the ending ones.
    package let keys: Int
    package let adminKeys: Int
    /// The next one to end first; at most 100.
    package let endingKeys: [EndingKey]
    /// Accounts that are open and have no key for the contract; at most 20 names.
    package let accountsWithoutKey: [String]
    /// Seconds since 1970 of the last event; nil without one.
    package let lastEvent: Int64?
    /// Reasons for which logos of brands cannot be served; at most 20.
    package let logoProblems: [String]
    /// Logos of brands that were examined; URLs elsewhere are not among them.
    package let logos: Int
}

extension DirectoryDatabase {
    /// Most logos that one call examines.
    private static let mostLogos = 2_000

    /// Reads the figures, and the files of logos that brands name.
    ///
    /// - Parameters:
    ///   - logos: where logos are that were not uploaded.
    ///   - now: seconds since 1970.
    package func operatorFigures(logos place: LogoCheck.Place, now: Int64) async throws -> OperatorFigures {
        let check = LogoCheck(self, in: place)
        return try await pool.read { database in
            let names = try Self.logos(database)
            let inventory = try LogoCheck.Inventory(check, database)
            return OperatorFigures(
                keys: try database.value(
                    Int.self,
                    "SELECT count(*) FROM api_key WHERE revoked IS NULL AND expires IS NULL AND kind <> ?",
                    [KeyKind.registrar.rawValue]) ?? 0,
                adminKeys: try database.value(Int.self, "SELECT count(*) FROM admin_key WHERE revoked IS NULL") ?? 0,
                endingKeys: try Self.endingKeys(database, now: now),
                accountsWithoutKey: try Self.accountsWithoutKey(database, now: now),
                lastEvent: try Self.lastEvent(database),
                logoProblems: Array(names.lazy.compactMap { inventory.problem(of: $0) }.prefix(20)),
                logos: names.count)
        }
    }

    /// Names of logos, without URLs.
    private static func logos(_ database: any SQLConnection) throws -> [String] {
        try database.rows(
            "SELECT DISTINCT logo FROM brand WHERE logo IS NOT NULL AND logo <> '' ORDER BY logo LIMIT ?", [mostLogos]
        ).map { $0["logo"] as String }.filter { !LogoURLs.isURL($0) }
    }

    private static func endingKeys(
        _ database: any SQLConnection, now: Int64
    ) throws -> [OperatorFigures.EndingKey] {
        try database.rows(
            """
            SELECT account.name AS account, old_key.name AS name, \(SecretKey.idColumn(database, table: "old_key")) AS id,
                old_key.expires AS ends, old_key.last_used AS used, new_key.created AS begun
            FROM api_key AS old_key JOIN account ON account.id = old_key.account
            LEFT JOIN api_key AS new_key ON new_key.hash = old_key.successor
            WHERE old_key.revoked IS NULL AND old_key.expires > ? ORDER BY old_key.expires LIMIT 100
            """, [now]
        ).map { row in
            let (used, begun): (Int64?, Int64?) = (row["used"], row["begun"])
            // The last use is rounded down, so an equal time may be before the successor.
            let isInUse = used.map { $0 > begun ?? now } ?? false
            return .init(account: row["account"], name: row["name"], id: row["id"], ends: row["ends"], isInUse: isInUse)
        }
    }

    private static func accountsWithoutKey(_ database: any SQLConnection, now: Int64) throws -> [String] {
        try database.rows(
            """
            SELECT name FROM account WHERE status IN ('active', 'trial') AND NOT EXISTS (
                SELECT 1 FROM api_key WHERE api_key.account = account.id AND revoked IS NULL
                AND kind <> ? AND (expires IS NULL OR expires > ?)) ORDER BY name LIMIT 20
            """, [KeyKind.registrar.rawValue, now]
        ).map { $0["name"] as String }
    }

    private static func lastEvent(_ database: any SQLConnection) throws -> Int64? {
        // One look into the index of each account.
        try database.value(
            Int64.self,
            """
            SELECT max(latest.received) FROM (
                SELECT (SELECT max(received) FROM event WHERE event.account = account.id) AS received FROM account
            ) AS latest
            """)
    }
}
