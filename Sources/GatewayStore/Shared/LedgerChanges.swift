// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import GRDB

/// Records which rows of the ledger have changed, for the shared ledger of several gateways.
///
/// Triggers add each changed call and event to `shared_change` in the transaction of the change, so none is missed and
/// none invented. They exist from the moment the file is opened, whether or not PostgreSQL is there. A row is in it once,
/// at its latest change. Safe from any thread; blocks on the disk.
///
/// A file may be an older copy of itself: a restored backup, a snapshot of the machine. `shared_origin.opened` is the
/// last change at its first opening since the shared ledger was reached. If the shared ledger has a later one, another
/// copy has shipped it.
package struct LedgerChanges: SharedChangeSource {
    private let files: HeraldDatabase

    /// Works on the ledger file of an open database.
    package init(_ database: HeraldDatabase) { files = database }

    /// Records the changes of a file from its opening on.
    static func begin(in ledger: any DatabaseWriter) throws {
        try ledger.write { database in
            for trigger in triggers { try database.execute(sql: trigger.sql) }
            if try origin(database) == nil { try begin(database) }
            try recordOpening(database)
        }
    }

    /// Stops the recording and forgets its changes: for a gateway without a shared ledger.
    static func stop(in ledger: any DatabaseWriter) throws {
        guard try ledger.read(origin) != nil else { return }
        try ledger.write { database in
            for trigger in triggers { try database.execute(sql: "DROP TRIGGER IF EXISTS \(trigger.name)") }
            let tables = ["shared_change", "shared_origin", "call_signal", "signal_cursor", "return_candidate"]
            for table in tables { try database.execute(sql: "DELETE FROM \(table)") }
        }
    }

    package func origin() throws -> SharedOrigin {
        let database = try files.ledger
        if let origin = try database.read(Self.origin) { return origin }
        try Self.begin(in: database)
        return try database.read(Self.origin) ?? SharedOrigin(ledger: 0, opening: 0)
    }

    package func lastKnown() throws -> Int64 {
        try files.ledger.read { database in
            try Int64.fetchOne(database, sql: "SELECT coalesce(opened, \(Self.last)) FROM shared_origin") ?? 0
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
            try Self.begin(database)
            try Self.recordOpening(database)
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
            SELECT \(names) FROM \(table.name) WHERE id IN
                (SELECT row FROM shared_change WHERE +kind = ?1 AND id > ?2 AND id <= ?3) ORDER BY id
            """)
        select.bind(1, table.rawValue)
        select.bind(2, after)
        select.bind(3, through)
        var values = ColumnValues(table)
        while try select.row({ values.keep($0) }) != nil {}
        return values.rows
    }

    /// The number of the last change ever recorded.
    private static let last = "(SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'shared_change')"

    private static func origin(_ database: Database) throws -> SharedOrigin? {
        let select = try LedgerStatement(database, "SELECT ledger, opening FROM shared_origin")
        return try select.firstRow { SharedOrigin(ledger: $0.integer(0) ?? 0, opening: $0.integer(1) ?? 0) }
    }

    private static func recordOpening(_ database: Database) throws {
        try database.execute(
            sql: "UPDATE shared_origin SET opening = ?, opened = coalesce(opened, \(last))",
            arguments: [Int64.random(in: 1...Int64.max)])
    }

    /// Numbers the file, and records what the other gateways need first: open calls, calls that may be returned, and events
    /// on their way.
    private static func begin(_ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO shared_origin (id, ledger) VALUES (1, ?);
                """, arguments: [Int64.random(in: 1...Int64.max)])
        try ReturnCandidates.begin(database)
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO shared_change (kind, row)
                    SELECT 0, id FROM call WHERE ended_at IS NULL OR returnable = 1 ORDER BY id;
                INSERT OR IGNORE INTO shared_change (kind, row) SELECT 1, id FROM event WHERE state = 0 ORDER BY id;
                INSERT OR IGNORE INTO shared_change (kind, row) SELECT 2, id FROM call_signal ORDER BY id;
                INSERT OR IGNORE INTO shared_change (kind, row) SELECT 3, id FROM return_candidate ORDER BY id;
                """)
    }

    private static let triggers: [(name: String, sql: String)] = SharedTable.allCases.flatMap { table in
        (table.isAppendOnly ? ["INSERT"] : ["INSERT", "UPDATE"]).map { change in
            let name = "shared_\(table.name)_\(change.lowercased())"
            let sql = """
                CREATE TRIGGER IF NOT EXISTS \(name) AFTER \(change) ON \(table.name) BEGIN
                    INSERT OR REPLACE INTO shared_change (kind, row) VALUES (\(table.rawValue), NEW.id);
                END
                """
            return (name, sql)
        }
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

extension LedgerCallRow {
    /// A call of the shared ledger, by the columns of `SharedTable.call`.
    package init(shared values: [String: SharedValue], node: String, events: [LedgerEventRow]) {
        self.init(row: Self.row(values), events: events)
        self.node = node
    }

    static func row(_ values: [String: SharedValue]) -> Row {
        Row(
            values.mapValues { value -> (any DatabaseValueConvertible)? in
                switch value {
                case .integer(let number): number
                case .text(let text): text
                }
            })
    }
}

extension LedgerEventRow {
    /// An event of the shared ledger, by the columns of `SharedTable.event`.
    package init(shared values: [String: SharedValue]) { self.init(row: LedgerCallRow.row(values)) }
}
