// SPDX-License-Identifier: Apache-2.0

import PostgreSQL
import PostgreSQLTesting
import Testing

/// Statements and values against a real server.
@Suite("PostgreSQL sessions")
struct SessionTests {
    @Test func `values of every type come back as they were sent`() throws {
        let session = try ThrowawayServer.session()
        try session.script(
            """
            CREATE TABLE kinds (a smallint, b integer, c bigint, d boolean, e double precision, f text, g bytea, h uuid,
                i timestamptz, j jsonb, k numeric, l varchar(20))
            """)
        let sql = """
            INSERT INTO kinds VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING *
            """
        let rows = try session.execute(
            sql,
            [
                -5, .integer(Int64(Int32.max)), .integer(.min), true, .double(0.5), "Müller 🎉", .bytes([0, 255, 10]),
                "0123456789abcdef0123456789abcdef", .integer(1_795_823_000_000_001), "{\"a\": 1}", -12_345_678_900, "x",
            ])
        let row = try #require(rows.first)
        #expect(try row.integer(0) == -5)
        #expect(try row.integer(1) == Int64(Int32.max))
        #expect(try row.integer(2) == .min)
        #expect(try row.flag(3) == true)
        #expect(try row.double(4) == 0.5)
        #expect(try row.text(5) == "Müller 🎉")
        #expect(try row.bytes(6) == [0, 255, 10])
        #expect(try row.text(7) == "01234567-89ab-cdef-0123-456789abcdef")
        #expect(try row.integer(8) == 1_795_823_000_000_001)
        #expect(try row.text(9) == "{\"a\": 1}")
        #expect(try row.integer(10) == -12_345_678_900)
        #expect(try row.text(11) == "x")
    }

    @Test(arguments: [
        ("0", 0), ("1", 1), ("9999", 9_999), ("10000", 10_000), ("-10001", -10_001), ("9223372036854775807", Int64.max),
        ("120000000", 120_000_000),
    ])
    func `a sum, which is numeric, is an integer if it has no fraction`(_ text: String, _ number: Int64) throws {
        let session = try ThrowawayServer.session()
        #expect(try session.execute("SELECT '\(text)'::numeric").first?.integer(0) == number)
    }

    @Test(arguments: ["0.5", "9223372036854775808", "NaN"])
    func `a numeric that is no 64-bit integer is an error`(_ text: String) throws {
        let row = try ThrowawayServer.session().execute("SELECT '\(text)'::numeric").first
        #expect(throws: PostgreSQLError.self) { () throws in try row?.integer(0) }
    }

    @Test func `null is nil for every getter`() throws {
        let row = try #require(try ThrowawayServer.session().execute("SELECT $1::bigint, $2::text", [nil, nil]).first)
        #expect(try row.integer(0) == nil)
        #expect(try row.text(1) == nil)
        #expect(row.isNull(0) && row.isNull(1))
    }

    @Test func `an empty text and empty bytes are not null`() throws {
        let row = try ThrowawayServer.session().execute("SELECT $1::text, $2::bytea", ["", .bytes([])]).first
        #expect(try row?.text(0) == "")
        #expect(try row?.bytes(1) == [])
    }

    @Test func `arrays keep their order and their nulls`() throws {
        let session = try ThrowawayServer.session()
        let rows = try session.execute(
            """
            SELECT a, b, c, d FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::boolean[])
            WITH ORDINALITY AS x (a, b, c, d, place) ORDER BY place
            """,
            [
                .integers([1, nil, .max]), .texts(["a", nil, ""]), .byteStrings([[1], nil, []]),
                .flags([true, nil, false]),
            ])
        #expect(try rows.map { try $0.integer(0) } == [1, nil, .max])
        #expect(try rows.map { try $0.text(1) } == ["a", nil, ""])
        #expect(try rows.map { try $0.bytes(2) } == [[1], nil, []])
        #expect(try rows.map { try $0.flag(3) } == [true, nil, false])
        #expect(
            try session.execute("SELECT count(*) FROM unnest($1::bigint[])", [.integers([])]).first?.integer(0) == 0)
    }

    @Test func `a batch of a hundred thousand rows is one statement`() throws {
        let session = try ThrowawayServer.session()
        try session.script("CREATE TABLE batch (id bigint PRIMARY KEY, name text)")
        let numbers = (1...100_000).map { Int64($0) }
        let rows = try session.execute(
            "INSERT INTO batch SELECT * FROM unnest($1::bigint[], $2::text[])",
            [.integers(numbers), .texts(numbers.map { "brand \($0)" })])
        #expect(rows.affected == 100_000)
        let read = try session.execute("SELECT id, name FROM batch ORDER BY id")
        #expect(read.count == 100_000)
        #expect(try read[99_999].text(1) == "brand 100000")
    }

    /// More than the buffers of both sides hold, so the session has to read while it sends.
    @Test func `a pipeline with large statements and large results does not block`() throws {
        let session = try ThrowawayServer.session()
        let large = String(repeating: "x", count: 1_000_000)
        let commands = (0..<30).map { _ in PostgreSQLCommand("SELECT $1::text", [.text(large)]) }
        #expect(
            try session.run(commands).map { try $0.first?.text(0)?.utf8.count }
                == Array(repeating: 1_000_000, count: 30))
    }

    @Test(arguments: [
        "'; DROP TABLE foreign_text; --", "\u{202E}gnp.exe", "\\x00", "$1", "\"", "a\nb\r\t", "\u{1F3F4}\u{E0067}",
        "{\"a\",NULL}", "",
    ])
    func `foreign text is stored as it is`(_ text: String) throws {
        let session = try ThrowawayServer.session()
        try session.script("CREATE TABLE foreign_text (value text, list text[])")
        let row = try session.execute(
            "INSERT INTO foreign_text VALUES ($1, $2) RETURNING value, list[1]", [.text(text), .texts([text])]
        ).first
        #expect(try row?.text(0) == text)
        #expect(try row?.text(1) == text)
    }

    @Test func `a NUL in a text becomes U+FFFD`() throws {
        let row = try ThrowawayServer.session().execute("SELECT $1::text", ["a\0b"]).first
        #expect(try row?.text(0) == "a\u{FFFD}b")
    }

    @Test func `a value that does not fit its parameter is an error, and the session goes on`() throws {
        let session = try ThrowawayServer.session()
        for (sql, value) in [("SELECT $1::integer", PostgreSQLValue.integer(.max)), ("SELECT $1::bigint", .bytes([1]))]
        {
            let error = #expect(throws: PostgreSQLError.self) { () throws in try session.execute(sql, [value]) }
            #expect(error?.cause == .value)
        }
        #expect(try session.execute("SELECT 1").first?.integer(0) == 1)
    }

    @Test func `an error names server, cause and state, and no value of a row`() throws {
        let session = try ThrowawayServer.session()
        try session.script(
            "CREATE TABLE numbers (number bigint CONSTRAINT once PRIMARY KEY); INSERT INTO numbers VALUES (4930)")
        let twice = #expect(throws: PostgreSQLError.self) { () throws in
            try session.execute("INSERT INTO numbers VALUES ($1)", [4930])
        }
        #expect(twice?.cause == .constraint)
        #expect(twice?.state == "23505")
        #expect(twice?.constraint == "once")
        #expect(twice?.description.contains("4930") == false)
        let text = #expect(throws: PostgreSQLError.self) { () throws in
            try session.execute("SELECT $1::text::bigint", ["from 4930123"])
        }
        #expect(text?.cause == .value)
        #expect(text?.description.contains("4930123") == false)
        #expect(text?.description.contains("invalid input syntax for type bigint") == true)
        let syntax = #expect(throws: PostgreSQLError.self) { () throws in try session.execute("SELEC 1") }
        #expect(syntax?.cause == .refused)
        #expect(syntax?.state == "42601")
    }

    @Test func `a statement is prepared once for each connection`() throws {
        let session = try ThrowawayServer.session()
        for _ in 0..<5 { try session.execute("SELECT $1::bigint + 1", [1]) }
        let known = try session.execute(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT $1::bigint + 1'")
        #expect(try known.first?.integer(0) == 1)
    }

    @Test func `a session with a thousand different statements goes on`() throws {
        let session = try ThrowawayServer.session()
        for number in 0..<1_050 { #expect(try session.execute("SELECT \(number)").first?.integer(0) == Int64(number)) }
    }

    @Test func `a statement whose table has changed is prepared again`() throws {
        let session = try ThrowawayServer.session()
        try session.script("CREATE TABLE changed (a bigint); INSERT INTO changed VALUES (1)")
        try session.execute("SELECT * FROM changed")
        try session.script("ALTER TABLE changed ADD b text")
        #expect(try session.transaction { try $0.execute("SELECT * FROM changed").first?.isNull(1) } == true)
    }
}
