// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Removes events, imprints, device log lines and debug uploads older than `keepDays`, in small batches.
///
/// The daily counters stay. The log file of a debug upload is removed with it.
package struct Retention: Sendable {
    /// Rows per transaction, which takes the writer for some milliseconds.
    static let batchSize = 500
    /// Debug uploads per transaction; each can have a megabyte of logs.
    static let uploadBatchSize = 10

    let database: DirectoryDatabase
    let keepDays: Int

    package init(database: DirectoryDatabase, keepDays: Int) {
        self.database = database
        self.keepDays = keepDays
    }

    /// Removes one batch of the oldest of each kind.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: true if there may be more to remove.
    package func removeBatch(now: Int64) async throws -> Bool {
        let oldest = now - Int64(keepDays) * 86_400
        let isMore = [
            // The batch may include newer rows, so only an empty result means that none is too old.
            try await remove(Self.events, [now, oldest]) > 0,
            try await remove(Self.imprints, [oldest]) == Self.batchSize,
            try await remove(Self.deviceLogs, [oldest]) == Self.batchSize,
            try await removeUploads(before: oldest, now: now),
        ]
        return isMore.contains(true)
    }

    /// The count of removed rows.
    private func remove(_ statement: String, _ arguments: SQLArguments) async throws -> Int {
        try await database.pool.write(.locked) { database in
            try database.execute(statement, arguments)
        }
    }

    private func removeUploads(before oldest: Int64, now: Int64) async throws -> Bool {
        let (count, files) = try await database.pool.write(.locked) { database in
            let rows = try database.rows(Self.uploads, [oldest, now])
            let logs = rows.compactMap { row -> String? in row["logs_upload_id"] }
            return (rows.count, try logs.flatMap { try database.values(String.self, Self.logs, [$0]) })
        }
        try UploadExpiry(database: database).removeFiles(of: files)
        return count == Self.uploadBatchSize
    }

    // Rows of events are nearly in order of time and need no index. Events from a time when the clock was ahead stay
    // until they are old enough, and do not block later ones.
    static let events = """
        DELETE FROM event WHERE id IN (
            SELECT id FROM (SELECT id, received FROM event WHERE received <= ? ORDER BY id LIMIT \(batchSize)) AS oldest
            WHERE received < ?)
        """

    static let imprints = """
        DELETE FROM imprint WHERE imprint_id IN (
            SELECT imprint_id FROM imprint WHERE received < ? ORDER BY received LIMIT \(batchSize))
        """

    static let deviceLogs = """
        DELETE FROM device_log WHERE (account, device_id, slot) IN (
            SELECT account, device_id, slot FROM device_log WHERE received < ? ORDER BY received LIMIT \(batchSize))
        """

    // An upload closes the request for its device; without it the device would be asked again.
    static let uploads = """
        DELETE FROM debug_upload WHERE id IN (
            SELECT id FROM debug_upload WHERE received < ? AND NOT EXISTS (
                SELECT 1 FROM debug_request WHERE debug_request.id = debug_upload.request AND expires > ?)
            ORDER BY received LIMIT \(uploadBatchSize))
        RETURNING logs_upload_id
        """

    // Several uploads may name one file.
    static let logs = """
        DELETE FROM upload WHERE id = ?
            AND NOT EXISTS (SELECT 1 FROM debug_upload WHERE logs_upload_id = upload.id) RETURNING id
        """
}
