// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Dispatch
import Foundation
import GRDB

/// The records of one sync response in a file of their own, `incoming.sqlite`, until the response is complete.
///
/// The file has no value after a crash, so nothing is synced to the disk. It keeps a sync of millions of records out of
/// memory and, until it is applied, out of the write-ahead log of the brand records. Each batch is one transaction.
final class BrandStaging: BrandIntake {
    let path: String
    private let queue: DatabaseQueue

    /// Makes an empty file and removes an earlier one.
    ///
    /// - Throws: a database error, also for a full disk.
    init(path: String) throws {
        self.path = path
        Self.remove(path)
        var configuration = Configuration()
        configuration.qos = .default  // the package's own asks for a niceness below 0
        configuration.label = path
        configuration.prepareDatabase { database in
            // 16 MB of pages: numbers come in any order, and a page outside of memory costs a read.
            try database.execute(
                sql: """
                    PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
                    PRAGMA cache_size = -16384
                    """)
        }
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: Self.schema) }
    }

    func add(_ records: [BrandRecord], inactive: [InactiveNumber]) async throws {
        try await queue.write { database in
            let insert = try database.cachedStatement(sql: Self.insert)
            for record in records {
                try insert.execute(arguments: [
                    Int64(record.number.digits), UpdateTime(record.updatedAt).microseconds, 1, record.name,
                    record.brandID, record.logoURL, record.callReason, record.updatedAt,
                ])
            }
            for number in inactive {
                try insert.execute(arguments: [
                    Int64(number.number.digits), UpdateTime(number.updatedAt).microseconds, 0, "", "", nil, nil, "",
                ])
            }
        }
    }

    func restart() async throws {
        try await queue.write { try $0.execute(sql: "DELETE FROM record") }
    }

    func forEachPage(of limit: Int, _ body: ([E164Number]) async throws -> Void) async throws {
        var last: Int64 = -1
        while true {
            let after = last
            let page = try await queue.read { database in
                try Int64.fetchAll(
                    database, sql: "SELECT number FROM record WHERE active = 1 AND number > ? ORDER BY number LIMIT ?",
                    arguments: [after, limit])
            }
            guard let end = page.last else { return }
            try await body(page.compactMap { UInt64(exactly: $0).flatMap { E164Number(digits: $0) } })
            last = end
        }
    }

    deinit {
        try? queue.close()
        Self.remove(path)
    }

    private static func remove(_ path: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private static let schema = """
        CREATE TABLE record (
            number INTEGER PRIMARY KEY, time INTEGER NOT NULL, active INTEGER NOT NULL, name TEXT NOT NULL,
            brand_id TEXT NOT NULL, logo_url TEXT, call_reason TEXT, updated_at TEXT NOT NULL);
        """

    private static let insert = """
        INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (number) DO UPDATE SET
            time = excluded.time, active = excluded.active, name = excluded.name, brand_id = excluded.brand_id,
            logo_url = excluded.logo_url, call_reason = excluded.call_reason, updated_at = excluded.updated_at
        WHERE excluded.time > time OR (excluded.time = time AND excluded.active <= active)
        """
}
