// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The positions of this gateway in the signals of other gateways; safe from any thread, blocks on the disk.
package struct LedgerSignalCursors: Sendable {
    private let files: HeraldDatabase

    /// Works on the ledger file of an open database.
    package init(_ database: HeraldDatabase) { files = database }

    /// The positions, one for each writer.
    package func cursors() throws -> [SignalCursor] {
        try files.ledger.read { database in
            let select = try LedgerStatement(database, "SELECT node, ledger, id FROM signal_cursor")
            var cursors: [SignalCursor] = []
            while let cursor = try select.row({ row in
                SignalCursor(node: row.integer(0) ?? 0, ledger: row.integer(1) ?? 0, id: row.integer(2) ?? 0)
            }) {
                cursors.append(cursor)
            }
            return cursors
        }
    }

    /// Stores positions, each for its writer.
    package func store(_ cursors: [SignalCursor]) throws {
        try files.ledger.write { database in
            let store = try LedgerStatement(
                database, "INSERT OR REPLACE INTO signal_cursor (node, ledger, id) VALUES (?1, ?2, ?3)")
            for cursor in cursors {
                store.bind(1, cursor.node)
                store.bind(2, cursor.ledger)
                store.bind(3, cursor.id)
                try store.run()
            }
        }
    }
}
