// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB

/// Writes updates of calls that other gateways have, inside the transaction that stores the position in the ring.
///
/// A row is a fact: nothing changes it but a step of the clock before it was shipped.
struct LedgerSignals {
    private let database: Database

    init(_ database: Database) { self.database = database }

    /// Stores updates.
    ///
    /// - Parameter clocks: the steps of the clock in the same batch, by which older rows move.
    func store(_ signals: [CallUpdate], after clocks: [LedgerClock]) throws {
        for clock in clocks {
            let shift = try LedgerStatement(database, "UPDATE call_signal SET at = at + ?1")
            shift.bind(1, clock.setBy)
            try shift.run()
        }
        guard !signals.isEmpty else { return }
        let insert = try LedgerStatement(
            database, "INSERT INTO call_signal (at, call_id, other_call_id, bytes) VALUES (?1, ?2, ?3, ?4)")
        for signal in signals {
            insert.bind(1, signal.wallMicroseconds)
            insert.bind(2, signal.call.description)
            if case .callIfSentByCallee(let other) = signal.counterpart {
                insert.bind(3, other.description)
            } else {
                insert.bind(3, String?.none)
            }
            insert.bind(4, blob: signal.bytes)
            try insert.run()
        }
    }
}

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
