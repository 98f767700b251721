// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Watches one transaction and records the numbers whose rows it wrote or removed.
///
/// Use it on the writing connection's thread only.
final class BrandChanges: TransactionObserver {
    /// Most recorded numbers; with more, reading their rows takes as long as building a new index.
    static let limit = 200_000

    /// Numbers in the order of the changes, perhaps repeated; nil above `limit`.
    private(set) var numbers: [Int64]? = []
    /// Rows inserted less rows removed.
    private(set) var growth = 0

    /// Runs `work` inside the caller's transaction and records its changes.
    static func during<Value>(_ database: Database, _ work: () throws -> Value) rethrows -> (Value, BrandChanges) {
        let changes = BrandChanges()
        database.add(transactionObserver: changes, extent: .databaseLifetime)
        defer { database.remove(transactionObserver: changes) }
        return (try work(), changes)
    }

    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { kind.tableName == "brand" }

    func databaseDidChange(with event: DatabaseEvent) {
        switch event.kind {
        case .insert: growth += 1
        case .delete: growth -= 1
        case .update: break
        }
        if let count = numbers?.count { if count < Self.limit { numbers?.append(event.rowID) } else { numbers = nil } }
    }

    func databaseDidCommit(_ database: Database) {}
    func databaseDidRollback(_ database: Database) {}
}
