// SPDX-License-Identifier: Apache-2.0

import PostgreSQL
import Testing

@testable import DirectoryStore

@Suite("Statements of both engines")
struct PortableStatementTests {
    @Test(arguments: [
        ("a = ? AND b = ?", "a = $1::bigint AND b = $2::text"),
        ("a = ?1 OR c = ?1 OR b = ?2", "a = $1::bigint OR c = $1::bigint OR b = $2::text"),
        ("b = ?2 AND a = ?1", "b = $1::text AND a = $2::bigint"),
        ("x = ':n?' AND a = ?", "x = ':n?' AND a = $1::bigint"),
        ("x = 'it''s ?' AND a = ?", "x = 'it''s ?' AND a = $1::bigint"),
        ("x LIKE ?2 ESCAPE '\\' AND a = ?1", "x LIKE $1::text ESCAPE '\\' AND a = $2::bigint"),
        ("c = x::text AND a = ?", "c = x::text AND a = $1::bigint"),
    ])
    func `a question mark is a typed parameter`(sql: String, expected: String) {
        #expect(PortableStatement(sql, [.integer, .text], [:]).text == expected)
    }

    @Test func `a name is one parameter wherever it is`() {
        let statement = PortableStatement(
            "a = :number AND b = :text OR a > :number", [], ["number": .integer, "text": .text])
        #expect(statement.text == "a = $1::bigint AND b = $2::text OR a > $1::bigint")
        #expect(statement.values(["number": 5, "text": "x"]) == [.integer(5), .text("x")])
        #expect(statement.values(["number": 5, "text": nil as String?]) == [.integer(5), .null])
    }
}
