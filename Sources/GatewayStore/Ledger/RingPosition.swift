// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The stored position of each ring; use it only inside the database access that made it.
struct RingPosition {
    private let database: Database

    init(_ database: Database) { self.database = database }

    /// Nil for a ring that the ledger has never read, or not within the retention of calls.
    func position(of ringID: Int64) throws -> UInt64? {
        let select = try LedgerStatement(database, "SELECT sequence FROM ring_position WHERE ring_id = ?1")
        select.bind(1, ringID)
        return try select.firstRow { $0.integer(0) }?.map(UInt64.init(clamping:))
    }

    /// - Parameter now: seconds since 1970.
    func store(_ position: UInt64, of ringID: Int64, now: Int64) throws {
        let store = try LedgerStatement(database, Self.upsert)
        store.bind(1, ringID)
        store.bind(2, Int64(clamping: position))
        store.bind(3, now)
        try store.run()
    }

    private static let upsert = """
        INSERT INTO ring_position (ring_id, sequence, updated_at) VALUES (?1, ?2, ?3)
        ON CONFLICT (ring_id) DO UPDATE SET sequence = ?2, updated_at = ?3
        """
}
