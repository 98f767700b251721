// SPDX-License-Identifier: Apache-2.0

import GRDB
import Testing

@testable import GatewayStore

@Suite("Ledger: texts of a row")
struct LedgerStatementTests {
    /// Three texts of each row, as the ledger has them after all rows were stored with the same statement.
    private static func stored(_ rows: [[String?]]) throws -> [[String?]] {
        let queue = try DatabaseQueue()
        return try queue.write { database in
            try database.execute(sql: "CREATE TABLE told (one TEXT, two TEXT, three TEXT)")
            let insert = try LedgerStatement(database, "INSERT INTO told VALUES (?1, ?2, ?3)")
            for row in rows {
                for (place, text) in row.enumerated() { insert.bind(CInt(place + 1), text) }
                try insert.run()
            }
            return try Row.fetchAll(database, sql: "SELECT * FROM told ORDER BY rowid").map { row in
                [row[0], row[1], row[2]]
            }
        }
    }

    @Test(
        arguments: [
            [["a", "", nil]],
            [["Zürich", "\u{1F4DE}", "a text that is longer than a string holds in itself"]],
            [["first", "row", "is long"], ["2nd", nil, ""], [nil, "third", "r"]],
            [[String(repeating: "x", count: 5_000), String(repeating: "y", count: 5_000), "z"]],
            [[String(repeating: "x", count: 8_192), "y", String(repeating: "z", count: 20_000)], ["a", "b", "c"]],
        ] as [[[String?]]])
    func `texts are stored as they were given, whatever their length`(rows: [[String?]]) throws {
        #expect(try Self.stored(rows) == rows)
    }
}
