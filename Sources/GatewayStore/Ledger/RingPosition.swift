// SPDX-License-Identifier: Apache-2.0

import GRDB

/// How far each signal ring has been made rows of; valid only inside the database access it was made in.
struct RingPosition {
    private let database: Database

    init(_ database: Database) { self.database = database }

    /// Nil when the ledger has never read this ring, or not for as long as ended calls are kept.
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
