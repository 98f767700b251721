// SPDX-License-Identifier: Apache-2.0

package import Branding
import Foundation
import GRDB
package import Gateway

/// The directory's records and the state of the sync, in `brands.sqlite`.
///
/// Every change is one transaction: it is there whole or not at all, and readers see the dataset before it until it
/// commits. Safe from any thread; never called on the call path. Source: securenode-endpoint-contract §4 and §5.
package struct BrandCacheStore: BrandCache {
    let database: any DatabaseWriter

    /// Works on the brand file of an open database.
    package init(_ database: HeraldDatabase) {
        self.database = database.brands
    }

    package func syncState() async throws -> SyncState {
        try await database.read { try Self.state(in: $0) }
    }

    /// Applies one sync in one transaction.
    ///
    /// A full change replaces the set: rows not in it go, rows already there are not written again, and the generation
    /// only grows if something differs. An incremental change writes a record unless the stored one is newer, then
    /// removes what the directory marked inactive.
    package func apply(_ change: SyncChange) async throws -> AppliedSync {
        let incoming = BrandCacheIncoming(change.upserts)
        let applied = try await database.write { database in
            let edits =
                change.isFull
                ? try BrandCacheEdits(replacing: database, with: incoming)
                : try BrandCacheEdits(merging: incoming, removing: change.removals, into: database)
            let (written, removed) = try edits.execute(incoming, in: database)
            let state = try Self.note(change, rowsChanged: written + removed > 0, in: database)
            let total = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM brand") ?? 0
            return AppliedSync(written: written, removed: removed, total: total, generation: state.generation)
        }
        await shrinkLog(after: applied)
        return applied
    }

    package func store(gates: BrandingGates) async throws {
        let json = try Self.json(gates)
        try await database.write {
            try $0.execute(sql: "UPDATE sync_state SET gates = ? WHERE id = 1", arguments: [json])
        }
    }

    /// Reads the one row of `sync_state`; gates nobody has stored yet, or that cannot be read, are the open ones.
    static func state(in database: Database) throws -> SyncState {
        let sql = "SELECT cursor, last_full_sync, last_sync, gates, generation FROM sync_state WHERE id = 1"
        guard let row = try Row.fetchOne(database, sql: sql) else { return SyncState() }
        let text: String? = row[3]
        let gates = text.flatMap { try? JSONDecoder().decode(BrandingGates.self, from: Data($0.utf8)) }
        return SyncState(
            cursor: row[0], lastFullSync: row[1], lastSync: row[2], gates: gates ?? BrandingGates(),
            generation: row[4])
    }

    private static func note(_ change: SyncChange, rowsChanged: Bool, in database: Database) throws -> SyncState {
        var state = try state(in: database)
        state.cursor = change.cursor
        state.lastSync = change.now
        if change.isFull { state.lastFullSync = change.now }
        if rowsChanged { state.generation += 1 }
        state.gates = change.gates
        try database.execute(
            sql: """
                UPDATE sync_state SET cursor = ?, last_full_sync = ?, last_sync = ?, gates = ?, generation = ?
                WHERE id = 1
                """,
            arguments: [state.cursor, state.lastFullSync, state.lastSync, json(state.gates), state.generation])
        return state
    }

    private static func json(_ gates: BrandingGates) throws -> String {
        String(decoding: try JSONEncoder().encode(gates), as: UTF8.self)
    }

    /// Gives back the disk space of the write-ahead log after a large change.
    ///
    /// A reader may be in the way: then the log stays until the next large change, and nothing is lost.
    private func shrinkLog(after applied: AppliedSync) async {
        let large = 50_000  // rows; below, the log is a few MB that the next sync uses again
        guard applied.written + applied.removed >= large else { return }
        _ = try? await database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }
}
