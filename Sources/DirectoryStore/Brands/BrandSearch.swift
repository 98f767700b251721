// SPDX-License-Identifier: Apache-2.0

package import Branding

extension BrandList {
    /// At most `limit` brands after `after` whose identifier or name contains a text, by identifier.
    ///
    /// The case of ASCII letters does not matter.
    package func page(containing text: String, after: String?, limit: Int) throws -> [Brand] {
        let pattern = "%" + text.map { "%_\\".contains($0) ? "\\\($0)" : "\($0)" }.joined() + "%"
        return try database.pool.read { [account] database in
            try database.rows(
                """
                SELECT * FROM brand WHERE account = ?1 AND id > ?2
                AND (lower(id) LIKE lower(?3) ESCAPE '\\' OR lower(name) LIKE lower(?3) ESCAPE '\\') ORDER BY id LIMIT ?4
                """, [account.row, after ?? "", pattern, limit]
            ).map(Self.brand)
        }
    }
}

extension BrandNumbers {
    /// At most `limit` numbers that begin with these digits, in numeric order; none without a digit.
    ///
    /// - Parameter digits: digits of an international number from its first one, without the plus sign.
    package func page(beginningWith digits: String, limit: Int) throws -> [NumberRow] {
        guard (1...15).contains(digits.utf8.count), let first = UInt64(digits), first > 0 else { return [] }
        // One range of the primary key for each length that a number with these digits can have.
        var ranges: [(low: UInt64, high: UInt64)] = []
        var (low, high) = (first, first + 1)
        for _ in digits.utf8.count...15 {
            ranges.append((low, high))
            (low, high) = (low * 10, high * 10)
        }
        let condition = repeatElement("(number >= ? AND number < ?)", count: ranges.count).joined(separator: " OR ")
        let bounds = ranges.flatMap { [SQLValue.integer(Int64($0.low)), .integer(Int64($0.high))] }
        return try database.pool.read { [account] database in
            try database.rows(
                "SELECT * FROM brand_number WHERE account = ? AND (\(condition)) ORDER BY number LIMIT ?",
                SQLArguments([.integer(account.row)] + bounds + [.integer(Int64(limit))])
            ).map(Self.numberRow)
        }
    }

    /// The number in the list, in any state; nil if the account never had it.
    package func find(_ number: E164Number) throws -> NumberRow? {
        try database.pool.read { [account] in try Self.find(number, account, $0) }
    }

    static func find(
        _ number: E164Number, _ account: AccountID, _ database: any SQLConnection
    ) throws -> NumberRow? {
        try database.row(
            "SELECT * FROM brand_number WHERE account = ? AND number = ?", [account.row, Int64(number.digits)]
        ).map(numberRow)
    }
}
