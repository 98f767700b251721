// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GRDB
import Logging
import PostgreSQL
import PostgreSQLTesting
import Synchronization
import TestFixtures

@testable import GatewayCluster
@testable import GatewayStore

/// The ledger of one gateway, written by hand as its recorder and its outbox write it.
final class LocalLedger: Sendable {
    let folder: TemporaryFolder
    let files: HeraldDatabase
    let changes: LedgerChanges

    /// - Parameters:
    ///   - backup: the ledger to begin with, as of `backup()`; nil for a new one.
    ///   - isShared: whether the gateway has a shared ledger.
    convenience init(restoring backup: String? = nil, isShared: Bool = true) throws {
        let folder = TemporaryFolder()
        if let backup { try FileManager.default.copyItem(atPath: backup, toPath: folder.path + "/herald.sqlite") }
        try self.init(in: folder, isShared: isShared)
    }

    private init(in folder: TemporaryFolder, isShared: Bool) throws {
        self.folder = folder
        files = try HeraldDatabase(folder: folder.path, sharesLedger: isShared)
        changes = LedgerChanges(files)
    }

    /// The same file as another start of the gateway opens it.
    func openAgain(isShared: Bool = true) throws -> LocalLedger { try LocalLedger(in: folder, isShared: isShared) }

    /// Adds an open call.
    ///
    /// - Parameters:
    ///   - received: the caller as the carrier wrote it, for a call without `caller`.
    ///   - trust: the facts of a verdict.
    func begin(
        _ id: Int64, caller: Int64? = 493_012_345, received: String? = nil, brand: String = "Acme",
        callID: String? = nil, customer: String? = nil, alsoCalled: String? = nil, trust: Int64? = nil,
        provider: String? = nil, brandID: String? = nil
    ) throws {
        try files.ledger.write { database in
            try database.execute(
                sql: """
                    INSERT INTO call (id, call_id, sip_call_id, direction, trunk, caller, destination, brand_id, brand_name,
                        decision, invite_at, caller_received, customer, evidence, also_called)
                    VALUES (?, ?, ?, 1, 'carrier', ?, 61255501001, ?, ?, 'matched', ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    id, callID ?? "call-\(id)", "\(id)@carrier", caller, brandID, brand,
                    1_795_823_000_000_000 + id * 1_000_000, received, customer, 0x8000_0000 + id,
                    alsoCalled,
                ])
            try database.execute(
                sql:
                    "INSERT INTO call_signature (call, trust, provider) SELECT ?1, ?2, ?3 WHERE coalesce(?2, ?3) IS NOT NULL",
                arguments: [id, trust, provider])
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

    /// Puts another file in the place of the open one, as the recorder finds it; nil for a new one.
    func replaceFile(by copy: String?) throws {
        for ending in ["", "-wal", "-shm"] { unlink(folder.path + "/herald.sqlite" + ending) }
        if let copy { try FileManager.default.copyItem(atPath: copy, toPath: folder.path + "/herald.sqlite") }
        files.ledgerFile.leave()
        try files.ledgerFile.open()
    }

    /// Copies the ledger beside itself, as `docs/backup.md` does; returns the path.
    func backup() throws -> String {
        let path = folder.path + "/copy.sqlite"
        try files.ledger.backup(to: DatabaseQueue(path: path))
        return path
    }

    /// Number of recorded changes, shipped ones among them.
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

    func shipper(
        _ ledger: LocalLedger, _ name: String = "a", kept: Duration = LedgerShipper.kept, log: LogLines = LogLines()
    ) -> LedgerShipper {
        LedgerShipper(
            PostgreSQLSession(address), ledger.changes, name: name, version: "test", kept: kept, log: log.logger)
    }

    func integer(_ sql: String) throws -> Int64? { try look.execute(sql).first?.integer(0) }

    /// All calls that the reader finds, newest first.
    func calls(_ change: (inout CallFilter) -> Void = { _ in }) throws -> [LedgerCallRow] {
        var filter = CallFilter()
        change(&filter)
        return try SharedLedgerReader(address).calls(matching: filter, limit: 1_000)
    }
}

/// The lines that a part has logged.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }
    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
        }
    }
}
