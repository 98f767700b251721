// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// The rows of one query, with the places of its columns.
final class SQLTable {
    let rows: PostgreSQLRows
    private let places: [String: Int]

    init(_ rows: PostgreSQLRows) {
        self.rows = rows
        places = Dictionary(rows.names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func place(of name: String) -> Int? { places[name] }

    var columns: Int { rows.names.count }
}
