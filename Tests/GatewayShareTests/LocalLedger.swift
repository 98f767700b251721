// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GRDB
import GatewayShare
import GatewayStore
import PostgreSQL
import PostgreSQLTesting
import TestFixtures

/// The ledger of one gateway, written by hand as its recorder and its outbox write it.
final class LocalLedger: Sendable {
    let folder = TemporaryFolder()
    let files: HeraldDatabase
    let changes: LedgerChanges

    /// - Parameter backup: a copy of `backup`; nil for a new ledger.
    init(restoring backup: String? = nil) throws {
        if let backup { try FileManager.default.copyItem(atPath: backup, toPath: folder.path + "/herald.sqlite") }
        files = try HeraldDatabase(folder: folder.path)
        changes = LedgerChanges(files)
    }

    /// Adds an open call.
    ///
    /// - Parameters:
    ///   - received: the caller as the carrier wrote it, for a call without `caller`.
    func begin(
        _ id: Int64, caller: Int64? = 493_012_345, received: String? = nil, brand: String = "Acme",
        callID: String? = nil, customer: String? = nil
    ) throws {
        try files.ledger.write { database in
            try database.execute(
                sql: """
                    INSERT INTO call (id, call_id, sip_call_id, direction, trunk, caller, destination, brand_name, decision,
                        invite_at, caller_received, customer, evidence)
                    VALUES (?, ?, ?, 1, 'carrier', ?, 61255501001, ?, 'matched', ?, ?, ?, ?)
                    """,
                arguments: [
                    id, callID ?? "call-\(id)", "\(id)@carrier", caller, brand,
                    1_795_823_000_000_000 + id * 1_000_000, received, customer, 0x8000_0000 + id,
                ])
        }
    }

    /// Ends a call with an event.
    func end(_ id: Int64, outcome: String = "ANSWERED") throws {
        try files.ledger.write { database in
            try database.execute(
                sql:
                    "UPDATE call SET ended_at = invite_at + 60000000, outcome = ?, call_seconds = 60, end_event = ? WHERE id = ?",
                arguments: [outcome, id, id])
            try database.execute(
                sql: """
                    INSERT INTO event (id, key, number, surface, displayed_at, meta, created_at, due_at, customer)
                    SELECT id, ?, '+493012345', 'pbx', '2026-11-28T00:00:00Z', '{}', 1795823000, 1795823000, customer
                    FROM call WHERE id = ?
                    """, arguments: ["\(outcome):00000000-0000-0000-0000-\(String(1_000_000_000_000 + id))", id])
        }
    }

    /// Marks an event as delivered.
    func deliver(_ id: Int64) throws {
        try files.ledger.write { database in
            try database.execute(sql: "UPDATE event SET state = 1, event_id = 'ev-\(id)' WHERE id = ?", arguments: [id])
        }
    }

    /// Copies the ledger beside itself, as `docs/backup.md` does; returns the path.
    func backup() throws -> String {
        let path = folder.path + "/copy.sqlite"
        try files.ledger.backup(to: DatabaseQueue(path: path))
        return path
    }

    /// Number of recorded changes.
    func recorded() throws -> Int { try changes.waiting(after: 0) }
}

/// A database of its own for one test, with a session to look into it.
struct SharedDatabase {
    let address: PostgreSQLAddress
    let look: PostgreSQLSession

    init() throws {
        let server = try ThrowawayServer.shared.get()
        address = try server.address(server.makeDatabase())
        look = PostgreSQLSession(address)
    }

    func shipper(_ ledger: LocalLedger, _ name: String = "a") -> LedgerShipper {
        LedgerShipper(PostgreSQLSession(address), ledger.changes, name: name, version: "test")
    }

    func integer(_ sql: String) throws -> Int64? { try look.execute(sql).first?.integer(0) }

    /// All calls that the reader finds, newest first.
    func calls(_ change: (inout CallFilter) -> Void = { _ in }) throws -> [LedgerCallRow] {
        var filter = CallFilter()
        change(&filter)
        return try SharedLedgerReader(address).calls(matching: filter, limit: 1_000).map { call in
            LedgerCallRow(shared: call.values, node: call.node, events: call.events.map { LedgerEventRow(shared: $0) })
        }
    }
}
