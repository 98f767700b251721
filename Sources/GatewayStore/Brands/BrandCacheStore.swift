// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallAccounting
import Foundation
import GRDB

/// The directory's records and the state of the sync, in `brands.sqlite`.
///
/// Every change is one transaction. Readers see the previous dataset until it commits. Safe from any thread; never
/// called on the call path. Source: securenode-endpoint-contract §4 and §5.
package struct BrandCacheStore: BrandCache {
    let source: BrandSource
    var database: any DatabaseWriter { source.database }
    private let incomingPath: String

    /// Uses the brand file of an open database.
    package init(_ database: HeraldDatabase) {
        source = BrandSource(database.brands)
        incomingPath = HeraldDatabase.incomingPath(in: database.brandsFolder)
    }

    /// Uses the brand file of a folder alone, which is open from its use to `rest`.
    ///
    /// A damaged file is renamed and begun anew.
    /// - Parameter folder: created where it is missing.
    package init(folder: String) {
        source = BrandSource {
            try? HeraldDatabase.makeFolder(folder)
            return BrandDatabase(folder: folder, spare: folder, replacing: nil).database
        }
        incomingPath = HeraldDatabase.incomingPath(in: folder)
    }

    /// Closes the file of a store of one folder until its next use.
    package func rest() { source.rest() }

    package func syncState() async throws -> SyncState {
        try await database.read { try Self.state(in: $0) }
    }

    package func intake() async throws -> any BrandIntake { try BrandStaging(path: incomingPath) }

    /// Applies one sync in one transaction.
    ///
    /// A full change replaces the set: other rows are removed, equal rows are not written again, and the generation
    /// grows only with a difference. An incremental change writes a record unless the stored one is newer, and removes
    /// inactive numbers.
    package func apply(_ change: SyncChange, from intake: any BrandIntake) async throws -> AppliedSync {
        guard let staging = intake as? BrandStaging else { throw BrandCacheError.foreignIntake }
        return try await database.explained { try await merge(change, from: staging) }
    }

    private func merge(_ change: SyncChange, from staging: BrandStaging) async throws -> AppliedSync {
        let applied = try await database.writeWithoutTransaction { database in
            database.add(function: BrandMerge.updateTime)
            try database.execute(sql: "ATTACH DATABASE ? AS incoming", arguments: [staging.path])
            defer { try? database.execute(sql: "DETACH DATABASE incoming") }
            // A large commit would checkpoint at once, while calls wait for its records.
            let pages = try Int.fetchOne(database, sql: "PRAGMA wal_autocheckpoint") ?? 1_000
            try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            defer { try? database.execute(sql: "PRAGMA wal_autocheckpoint = \(pages)") }
            var applied: AppliedSync?
            try database.inTransaction(.immediate) {
                let merge = BrandMerge(database: database)
                let ((written, removed), changes) = try BrandChanges.during(database) {
                    try change.isFull ? merge.replace() : merge.merge()
                }
                let state = try Self.record(change, rowsChanged: written + removed > 0, in: database)
                let log = BrandChangeLog(database: database)
                if written + removed > 0 { try log.record(changes, generation: state.generation) }
                applied = AppliedSync(
                    written: written, removed: removed, total: try log.recordCount(), generation: state.generation)
                return .commit
            }
            return applied
        }
        guard let applied else { throw BrandCacheError.foreignIntake }
        return applied
    }

    package func settle(_ applied: AppliedSync) async {
        let rows = applied.written + applied.removed
        guard rows > 0 else { return }
        let large = 50_000  // rows; below, the log is a few MB that the next sync uses again
        _ = try? await database.writeWithoutTransaction { try $0.checkpoint(rows < large ? .passive : .truncate) }
    }

    package func confirm(isFull: Bool, gates: BrandingGates, now: Int64) async throws {
        try await database.change { database in
            var state = try Self.state(in: database)
            state.lastSync = now
            if isFull { state.lastFullSync = now }
            state.gates = gates
            try Self.write(state, in: database)
        }
    }

    package func store(gates: BrandingGates) async throws {
        let json = try Self.json(gates)
        try await database.change {
            try $0.execute(sql: "UPDATE sync_state SET gates = ? WHERE id = 1", arguments: [json])
        }
    }

    package func store(hasTombstones: Bool) async throws {
        try await database.change {
            try $0.execute(sql: "UPDATE sync_state SET tombstones = ? WHERE id = 1", arguments: [hasTombstones])
        }
    }

    package func store(cards: CardLinks?) async throws {
        try await database.change {
            try $0.execute(sql: "UPDATE sync_state SET card_url = ? WHERE id = 1", arguments: [cards?.template])
        }
    }

    /// Reads the row of `sync_state`; missing or unreadable gates count as open.
    static func state(in database: Database) throws -> SyncState {
        let sql = """
            SELECT cursor, last_full_sync, last_sync, gates, generation, full_validator, cursor_validator, tombstones,
                card_url
            FROM sync_state WHERE id = 1
            """
        guard let row = try Row.fetchOne(database, sql: sql) else { return SyncState() }
        var state = SyncState(
            cursor: row[0], lastFullSync: row[1], lastSync: row[2],
            gates: read(BrandingGates.self, row[3]) ?? BrandingGates(), generation: row[4])
        state.fullValidator = read(SyncValidator.self, row[5])
        state.cursorValidator = read(SyncValidator.self, row[6])
        state.hasTombstones = row[7]
        state.cards = (row[8] as String?).flatMap(CardLinks.init(template:))
        return state
    }

    private static func record(_ change: SyncChange, rowsChanged: Bool, in database: Database) throws -> SyncState {
        var state = try state(in: database)
        if rowsChanged {
            state.generation += 1
            // The records no longer match the validator: the next full request is unconditional.
            state.fullValidator = nil
        }
        if change.isFull {
            state.lastFullSync = change.now
            state.fullValidator = change.validator
            state.cursorValidator = nil
        } else {
            // The validator fits the same request alone, which is repeated only with the same cursor.
            state.cursorValidator = change.cursor == nil ? change.validator : nil
        }
        if let cursor = change.cursor { state.cursor = cursor }
        state.lastSync = change.now
        state.gates = change.gates
        try write(state, in: database)
        return state
    }

    private static func write(_ state: SyncState, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE sync_state SET cursor = ?, last_full_sync = ?, last_sync = ?, gates = ?, generation = ?,
                    full_validator = ?, cursor_validator = ? WHERE id = 1
                """,
            arguments: [
                state.cursor, state.lastFullSync, state.lastSync, json(state.gates), state.generation,
                state.fullValidator.map { try json($0) }, state.cursorValidator.map { try json($0) },
            ])
    }

    private static func read<Value: Decodable>(_ type: Value.Type, _ text: String?) -> Value? {
        text.flatMap { try? JSONDecoder().decode(type, from: Data($0.utf8)) }
    }

    private static func json(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }
}

/// A sync with inconsistent parts, a fault of the program; nothing has changed.
enum BrandCacheError: Error, CustomStringConvertible {
    case foreignIntake

    var description: String { "the records of the sync are not in this cache's own intake" }
}
