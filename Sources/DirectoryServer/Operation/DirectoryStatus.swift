// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQL

/// The body of `GET /status`: sizes and states, without a key, a name or a telephone number.
struct DirectoryStatus: Hashable, Sendable, Codable {
    var version: String
    /// Seconds since 1970, as every time here.
    var startedAt: Int64
    /// Nil while the store can be written.
    var problem: String?
    /// Accounts, and those that are active.
    var accounts: Int
    var activeAccounts: Int
    /// Numbers in use.
    var numbers: Int
    /// The number of the last change in the feed, the highest of all accounts.
    var lastChange: Int64
    var eventsToday: Int
    /// Writes that wait for a commit.
    var waitingWrites: Int
    var connections: Int
    var disk: Disk
    /// Nil before the first backup.
    var lastBackup: Int64?
    /// Nil for a directory in a file.
    var replication: Replication?

    /// Role and standbys of a database server.
    struct Replication: Hashable, Sendable, Codable {
        var summary: String
        /// With remedies; empty in good health.
        var problems: [String]
        var details: PostgreSQLReplication
    }

    /// Bytes of the database file, of its write-ahead log, and free on the disk.
    struct Disk: Hashable, Sendable, Codable {
        var databaseBytes: Int64
        var logBytes: Int64
        var freeBytes: Int64

        enum CodingKeys: String, CodingKey {
            case databaseBytes = "database_bytes"
            case logBytes = "log_bytes"
            case freeBytes = "free_bytes"
        }
    }

    enum CodingKeys: String, CodingKey {
        case version, problem, accounts, numbers, connections, disk, replication
        case startedAt = "started_at"
        case activeAccounts = "active_accounts"
        case lastChange = "last_change"
        case eventsToday = "events_today"
        case waitingWrites = "waiting_writes"
        case lastBackup = "last_backup"
    }
}

extension DirectoryStatus {
    /// Reads the body; nil for one of another shape.
    init?(json: String) {
        guard let status = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else { return nil }
        self = status
    }
}
