// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Reads which rows of the ledger have changed, for the shared ledger of several gateways; see `ChangeRecording`.
///
/// A row is in the list once, at its latest change. Safe from any thread; blocks on the disk.
///
/// A file may be an older copy of itself: a restored backup, a snapshot of the machine. `shared_origin.opened` is the
/// last change at its first opening since the shared ledger was reached. If the shared ledger has a later one, another
/// copy has shipped it.
package struct LedgerChanges: SharedChangeSource {
    private let files: HeraldDatabase

    /// Works on the ledger file of an open database.
    package init(_ database: HeraldDatabase) { files = database }

    package func origin() throws -> SharedOrigin {
        let database = try files.ledger
        if let origin = try database.read(ChangeRecording.origin) { return origin }
        try ChangeRecording.begin(in: database)
        return try database.read(ChangeRecording.origin) ?? SharedOrigin(ledger: 0, opening: 0)
    }

    package func lastKnown() throws -> Int64 {
        try files.ledger.read { database in
            try Int64.fetchOne(database, sql: "SELECT coalesce(opened, \(ChangeRecording.last)) FROM shared_origin")
                ?? 0
        }
    }

    package func confirm(_ origin: SharedOrigin) throws {
        try files.ledger.write { database in
            try database.execute(
                sql: "UPDATE shared_origin SET opened = NULL WHERE opening = ?", arguments: [origin.opening])
        }
    }

    package func beginAnew(after position: Int64) throws {
        try files.ledger.write { database in
            // The shared ledger has these under the earlier number.
            try database.execute(
                sql: "DELETE FROM shared_change WHERE id <= coalesce((SELECT opened FROM shared_origin), ?)",
                arguments: [position])
            try database.execute(sql: "DELETE FROM shared_origin")
            try ChangeRecording.begin(database)
            try ChangeRecording.recordOpening(database)
        }
    }

    package func changes(after position: Int64, limit: Int) throws -> SharedChanges {
        let origin = try origin()
        return try files.ledger.read { database in
            let last = try LedgerStatement(
                database,
                "SELECT max(id), count(*) FROM (SELECT id FROM shared_change WHERE id > ?1 ORDER BY id LIMIT ?2)")
            last.bind(1, position)
            last.bind(2, limit)
            let (through, count) = try last.firstRow { ($0.integer(0), $0.integer(1) ?? 0) } ?? (nil, 0)
            guard let through else { return SharedChanges(origin: origin, through: position, isLast: true, rows: []) }
            let rows = try SharedTable.allCases.map { try Self.rows($0, position, through, database) }
            return SharedChanges(
                origin: origin, through: through, isLast: count < limit, rows: rows.filter { $0.count > 0 })
        }
    }

    package func forget(through position: Int64) throws {
        try files.ledger.write { database in
            for table in SharedTable.allCases where table.isAppendOnly {
                let forget = try LedgerStatement(
                    database,
                    """
                    DELETE FROM \(table.name) WHERE id <= (SELECT max(row) FROM shared_change WHERE kind = ?1 AND id <= ?2)
                    """)
                forget.bind(1, table.rawValue)
                forget.bind(2, position)
                try forget.run()
            }
            let forget = try LedgerStatement(database, "DELETE FROM shared_change WHERE id <= ?1")
            forget.bind(1, position)
            try forget.run()
        }
    }

    package func waiting(after position: Int64) throws -> Int {
        try files.ledger.read { database in
            try Int.fetchOne(database, sql: "SELECT count(*) FROM shared_change WHERE id > ?", arguments: [position])
                ?? 0
        }
    }

    /// The present rows of a table that changed between two positions; deleted rows are left out.
    private static func rows(
        _ table: SharedTable, _ after: Int64, _ through: Int64, _ database: Database
    ) throws -> SharedRows {
        let names = table.columns.map(\.name).joined(separator: ", ")
        // The plus keeps SQLite from reading all kept changes of the table by their index.
        let select = try LedgerStatement(
            database,
            """
            SELECT \(names) FROM \(table == .call ? CallColumn.source : table.name) WHERE id IN
                (SELECT row FROM shared_change WHERE +kind = ?1 AND id > ?2 AND id <= ?3) ORDER BY id
            """)
        select.bind(1, table.rawValue)
        select.bind(2, after)
        select.bind(3, through)
        var values = ColumnValues(table)
        while try select.row({ values.keep($0) }) != nil {}
        return values.rows
    }
}

/// The rows of a shared table, while they are read.
private struct ColumnValues {
    private let table: SharedTable
    private let columns: [SharedTable.Column]
    /// For each column, all but one are empty.
    private var integers: [[Int64?]]
    private var texts: [[String?]]
    private var bytes: [[[UInt8]?]]

    init(_ table: SharedTable) {
        self.table = table
        columns = table.columns
        integers = columns.map { _ in [] }
        texts = columns.map { _ in [] }
        bytes = columns.map { _ in [] }
    }

    mutating func keep(_ row: LedgerRow) {
        for (place, column) in columns.enumerated() {
            switch column.kind {
            case .integer: integers[place].append(row.integer(CInt(place)))
            case .text: texts[place].append(row.text(CInt(place)))
            case .bytes: bytes[place].append(row.bytes(CInt(place)))
            }
        }
    }

    var rows: SharedRows {
        var rows = SharedRows(table)
        rows.columns = columns.indices.map { place in
            switch columns[place].kind {
            case .integer: .integers(integers[place])
            case .text: .texts(texts[place])
            case .bytes: .bytes(bytes[place])
            }
        }
        return rows
    }
}

extension LedgerEventRow {
    /// An event of the shared ledger, by the columns of `SharedTable.event`.
    package init(shared values: [String: ColumnValue]) {
        let values = values.mapValues { value -> (any DatabaseValueConvertible)? in
            switch value {
            case .integer(let number): number
            case .text(let text): text
            }
        }
        self.init(row: Row(values))
    }
}
