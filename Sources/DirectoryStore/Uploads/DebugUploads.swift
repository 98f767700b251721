// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import Foundation

/// The debug uploads that devices sent on request.
package struct DebugUploads: Sendable {
    private let database: DirectoryDatabase
    private let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID = .first) {
        self.database = database
        self.account = account
    }

    /// A stored upload.
    package struct Stored: Codable, Hashable, Sendable {
        package let id: String
        package let device: String
        /// Seconds since 1970.
        package let received: Int64
        package let state: JSONValue?
        package let logs: String?
        /// The finished chunked upload with the logs.
        package let logsUploadID: String?
    }

    /// The uploads, newest first, at most `limit`.
    package func latest(limit: Int) throws -> [Stored] {
        try database.pool.read { [account] database in
            try database.rows(
                "SELECT * FROM debug_upload WHERE account = ? ORDER BY received DESC, id LIMIT ?", [account.row, limit]
            ).map(Self.stored)
        }
    }

    /// The newest upload of a device; nil without one.
    package func newest(of device: String) throws -> Stored? {
        try database.pool.read { [account] database in
            try database.row(
                """
                SELECT * FROM debug_upload WHERE account = ? AND device_id = ? ORDER BY received DESC, id LIMIT 1
                """, [account.row, device]
            ).map(Self.stored)
        }
    }

    /// The upload of an id; nil without one.
    package func find(_ id: String) throws -> Stored? {
        try database.pool.read { [account] database in
            try database.row(
                "SELECT * FROM debug_upload WHERE account = ? AND id = ?", [account.row, id]
            ).map(Self.stored)
        }
    }

    private static func stored(_ row: SQLRow) throws -> Stored {
        let state: String? = row["state"]
        return Stored(
            id: row["id"], device: row["device_id"], received: row["received"],
            state: try state.map { try JSONValue(parsing: $0.utf8, levels: .max) },
            logs: row["logs"], logsUploadID: row["logs_upload_id"])
    }

    /// Stores a requested upload, which closes the request for its device.
    ///
    /// A used nonce is checked first: its sender lost the response and can stop.
    ///
    /// - Throws: `DebugUploadError`, or a database error.
    package func store(_ upload: DebugUpload, now: Int64) async throws -> String {
        let state = try upload.state.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        return try await database.pool.write { [account] database in
            let seen = try database.exists(
                "SELECT 1 FROM debug_upload WHERE account = ? AND nonce = ?", [account.row, upload.nonce.lowercased()])
            if seen { throw DebugUploadError.nonceUsed }
            guard let asked = try DebugRequests.open(account, device: upload.deviceID, now: now, database),
                asked.allowsExport, try DeviceList.isRegistered(upload.deviceID, account, database)
            else { throw DebugUploadError.notRequested }
            if let logs = upload.logsUploadID { try Self.checkFinished(logs, account, database) }
            let id = UUID().uuidString.lowercased()
            try database.execute(
                """
                INSERT INTO debug_upload (id, request, account, device_id, nonce, created_at, state, logs,
                logs_upload_id, received) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    id, asked.id, account.row, upload.deviceID, upload.nonce.lowercased(), upload.createdAt, state,
                    upload.logs, upload.logsUploadID, now,
                ])
            return id
        }
    }

    private static func checkFinished(_ upload: String, _ account: AccountID, _ database: any SQLConnection) throws {
        let isFinished = try database.exists(
            "SELECT 1 FROM upload WHERE id = ? AND account = ? AND completed IS NOT NULL", [upload, account.row])
        guard isFinished == true else { throw DebugUploadError.logsNotFinished }
    }
}
