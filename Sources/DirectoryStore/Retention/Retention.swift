// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// Removes what came longer ago than the operator keeps it, a little at a time: events, imprints, lines of
/// device logs and debug uploads.
///
/// The day's counters stay. With a debug upload goes the file of its logs, where it has one.
package struct Retention: Sendable {
    /// Rows a transaction looks at: some milliseconds of the writer.
    static let biteSize = 500
    /// Debug uploads a transaction removes; each can hold a megabyte of logs.
    static let uploadBiteSize = 10

    let database: DirectoryDatabase
    let keepDays: Int

    package init(database: DirectoryDatabase, keepDays: Int) {
        self.database = database
        self.keepDays = keepDays
    }

    /// Takes one bite at the oldest of each kind.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: true when there may be more to remove.
    package func bite(now: Int64) async throws -> Bool {
        let oldest = now - Int64(keepDays) * 86_400
        let isMore = [
            // Among the oldest may be young ones: only where none of them is too old nothing is.
            try await remove(Self.events, [now, oldest]) > 0,
            try await remove(Self.imprints, [oldest]) == Self.biteSize,
            try await remove(Self.deviceLogs, [oldest]) == Self.biteSize,
            try await removeUploads(before: oldest, now: now),
        ]
        return isMore.contains(true)
    }

    /// How many rows went.
    private func remove(_ statement: String, _ arguments: StatementArguments) async throws -> Int {
        try await database.pool.write { database in
            try database.execute(sql: statement, arguments: arguments)
            return database.changesCount
        }
    }

    private func removeUploads(before oldest: Int64, now: Int64) async throws -> Bool {
        let (count, files) = try await database.pool.write { database in
            let rows = try Row.fetchAll(database, sql: Self.uploads, arguments: [oldest, now])
            let logs = rows.compactMap { row -> String? in row["logs_upload_id"] }
            return (rows.count, try logs.flatMap { try String.fetchAll(database, sql: Self.logs, arguments: [$0]) })
        }
        try UploadExpiry(database: database).removeFiles(of: files)
        return count == Self.uploadBiteSize
    }

    // Events come in the order of their rows, or nearly so, and need no index. Those of a time when the clock was ahead
    // are passed over: they stay until their time has come, and must not keep all that came after them.
    static let events = """
        DELETE FROM event WHERE id IN (
            SELECT id FROM (SELECT id, received FROM event WHERE received <= ? ORDER BY id LIMIT \(biteSize))
            WHERE received < ?)
        """

    static let imprints = """
        DELETE FROM imprint WHERE imprint_id IN (
            SELECT imprint_id FROM imprint WHERE received < ? ORDER BY received LIMIT \(biteSize))
        """

    static let deviceLogs = """
        DELETE FROM device_log WHERE (account, device_id, slot) IN (
            SELECT account, device_id, slot FROM device_log WHERE received < ? ORDER BY received LIMIT \(biteSize))
        """

    // An upload closes a request for its device: without it the device would be asked again.
    static let uploads = """
        DELETE FROM debug_upload WHERE id IN (
            SELECT id FROM debug_upload WHERE received < ? AND NOT EXISTS (
                SELECT 1 FROM debug_request WHERE debug_request.id = debug_upload.request AND expires > ?)
            ORDER BY received LIMIT \(uploadBiteSize))
        RETURNING logs_upload_id
        """

    // More than one upload may name a file.
    static let logs = """
        DELETE FROM upload WHERE id = ?
            AND NOT EXISTS (SELECT 1 FROM debug_upload WHERE logs_upload_id = upload.id) RETURNING id
        """
}
