// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation

/// The directory's requests for debug uploads, with their expiry.
///
/// Source: securenode-endpoint-contract §9: only the server authorises uploads, one per request and device.
package struct DebugRequests: Sendable {
    private let database: DirectoryDatabase
    private let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID = .first) {
        self.database = database
        self.account = account
    }

    /// A request that has not expired.
    package struct Open: Codable, Hashable, Sendable {
        package let id: Int64
        /// Nil for every device of the account.
        package let device: String?
        /// Seconds since 1970.
        package let expires: Int64
        /// False shows the request to the device's user and accepts no upload.
        package let allowsExport: Bool
    }

    /// Requests an upload; the device receives the request with its next sync.
    ///
    /// It replaces an earlier request for the same device.
    ///
    /// - Parameters:
    ///   - device: nil for every device of the account, each once.
    ///   - expires: seconds since 1970.
    package func request(device: String?, expires: Int64, allowsExport: Bool = true, now: Int64 = 0) throws {
        try database.pool.write { [account] database in
            try database.execute(
                "DELETE FROM debug_request WHERE account = ? AND device_id IS NOT DISTINCT FROM ?",
                [account.row, device])
            // Uploads still refer to the numbers of removed rows, which SQLite would reuse.
            let last = [
                try database.value(Int64.self, "SELECT max(id) FROM debug_request"),
                try database.value(Int64.self, "SELECT max(request) FROM debug_upload"),
            ]
            try database.execute(
                """
                INSERT INTO debug_request (id, account, device_id, expires, allow_export, created)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                [1 + (last.compactMap { $0 }.max() ?? 0), account.row, device, expires, allowsExport, now])
        }
    }

    /// Withdraws a request; false without one.
    package func withdraw(device: String?) throws -> Bool {
        try database.pool.write { [account] database in
            try database.execute(
                "DELETE FROM debug_request WHERE account = ? AND device_id IS NOT DISTINCT FROM ?",
                [account.row, device]) > 0
        }
    }

    /// The requests that have not expired; `now` is seconds since 1970.
    package func open(now: Int64) throws -> [Open] {
        try database.pool.read { [account] in try Self.open(account, now: now, $0) }
    }

    static func open(_ account: AccountID, now: Int64, _ database: any SQLConnection) throws -> [Open] {
        let statement = "SELECT * FROM debug_request WHERE account = ? AND expires > ? ORDER BY id"
        return try database.rows(statement, [account.row, now]).map(read)
    }

    /// The columns of `openWithUploads` in a query that joins `debug_request`.
    static let columns = """
        debug_request.id AS request, debug_request.device_id, debug_request.expires, debug_request.allow_export,
        (SELECT count(*) FROM debug_upload WHERE request = debug_request.id) AS uploads
        """

    /// The requests of rows with `columns`, and the count of their uploads; a row without a request is left out.
    ///
    /// The count only grows while the requests stay the same, because such uploads are kept.
    static func openWithUploads(_ rows: [SQLRow]) -> (open: [Open], uploads: Int) {
        let rows = rows.filter { $0["request"] as Int64? != nil }
        let open = rows.map { row in
            Open(
                id: row["request"], device: row["device_id"], expires: row["expires"],
                allowsExport: row["allow_export"])
        }
        return (open, rows.reduce(0) { $0 + ($1["uploads"] as Int) })
    }

    /// The open request for a device without an upload; its own takes precedence over one for all.
    static func open(
        _ account: AccountID, device: String, now: Int64, _ database: any SQLConnection
    ) throws -> Open? {
        let statement = """
            SELECT * FROM debug_request AS asked WHERE account = ? AND expires > ?
            AND (device_id = ? OR device_id IS NULL) AND NOT EXISTS
            (SELECT 1 FROM debug_upload WHERE request = asked.id AND device_id = ?)
            ORDER BY device_id IS NULL, id DESC LIMIT 1
            """
        return try database.row(statement, [account.row, now, device, device]).map(read)
    }

    /// The `debug_ui` object of a device's responses; all closed without a device or a request.
    static func debugUI(
        _ account: AccountID, device: String?, now: Int64, _ database: any SQLConnection
    ) throws -> DirectoryConfig.DebugUI {
        let asked = try device.flatMap { try open(account, device: $0, now: now, database) }
        var gates = DirectoryConfig.DebugUI()
        (gates.enabled, gates.requestUpload) = (asked != nil, asked != nil)
        gates.allowExport = asked?.allowsExport ?? false
        gates.expiresAt = asked.map { Timestamp.string(from: $0.expires) }
        return gates
    }

    private static func read(_ row: SQLRow) -> Open {
        Open(id: row["id"], device: row["device_id"], expires: row["expires"], allowsExport: row["allow_export"])
    }
}
