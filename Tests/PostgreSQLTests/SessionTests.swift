// SPDX-License-Identifier: Apache-2.0

import PostgreSQL
import PostgreSQLTesting
import Testing

/// Statements and values against a real server.
@Suite("PostgreSQL sessions")
struct SessionTests {
    /// A value for a column of a type, and the getter that reads it back.
    struct Sent: Sendable, CustomTestStringConvertible {
        let type: String
        let value: PostgreSQLValue
        /// The value that the getter returns; nil for the one that was sent.
        var returned: PostgreSQLValue?
        let get: @Sendable (PostgreSQLRow) throws -> PostgreSQLValue

        var testDescription: String { type }

        static func integer(_ type: String, _ value: Int64) -> Sent {
            Sent(type: type, value: .integer(value)) { .integer(try $0.integer(0)) }
        }

        static func text(_ type: String, _ value: String, returned: PostgreSQLValue? = nil) -> Sent {
            Sent(type: type, value: .text(value), returned: returned) { .text(try $0.text(0)) }
        }
    }

    private static let everyType: [Sent] = [
        .integer("smallint", -5), .integer("integer", Int64(Int32.max)), .integer("bigint", .min),
        .integer("numeric", -12_345_678_900), .integer("timestamptz", 1_795_823_000_000_001),
        .text("text", "Müller 🎉"), .text("varchar(20)", "x"), .text("jsonb", "{\"a\": 1}"),
        .text(
            "uuid", "0123456789abcdef0123456789abcdef", returned: "01234567-89ab-cdef-0123-456789abcdef"),
        Sent(type: "boolean", value: true) { try $0.flag(0).map { .flag($0) } ?? .null },
        Sent(type: "double precision", value: .double(0.5)) { try $0.double(0).map { .double($0) } ?? .null },
        Sent(type: "bytea", value: .bytes([0, 255, 10])) { .bytes(try $0.bytes(0)) },
    ]

    @Test(arguments: everyType)
    func `a value comes back from a column of its type as it was sent`(_ sent: Sent) throws {
        let session = try ThrowawayServer.session()
        try session.script("CREATE TABLE kinds (value \(sent.type))")
        let row = try session.execute("INSERT INTO kinds VALUES ($1) RETURNING value", [sent.value]).first
        #expect(try row.map(sent.get) == sent.returned ?? sent.value)
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

    @Test func `a NUL in one text of an array becomes U+FFFD, and the others stay`() throws {
        let rows = try ThrowawayServer.session().execute(
            "SELECT name FROM unnest($1::text[]) WITH ORDINALITY AS x (name, place) ORDER BY place",
            [.texts(["Zoë", "a\0b", nil, "end"])])
        #expect(try rows.map { try $0.text(0) } == ["Zoë", "a\u{FFFD}b", nil, "end"])
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

    private static func refusal(of sql: String, _ values: [PostgreSQLValue], _ session: PostgreSQLSession)
        -> PostgreSQLError?
    {
        #expect(throws: PostgreSQLError.self) { () throws in try session.execute(sql, values) }
    }

    @Test func `a row that breaks a constraint is refused with the constraint's name and without its values`() throws {
        let session = try ThrowawayServer.session()
        try session.script(
            "CREATE TABLE numbers (number bigint CONSTRAINT once PRIMARY KEY); INSERT INTO numbers VALUES (4930)")
        let error = Self.refusal(of: "INSERT INTO numbers VALUES ($1)", [4930], session)
        #expect(error?.cause == .constraint)
        #expect(error?.state == "23505")
        #expect(error?.constraint == "once")
        #expect(error?.description.contains("4930") == false)
    }

    @Test(arguments: [
        ("bigint", "from 4930123", "invalid input syntax for type bigint"),
        ("bigint", "\"4930123\": \"4930123", "invalid input syntax for type bigint"),
        ("integer", "493012345678", "is out of range for type integer"),
        ("timestamptz", "2026-13-01 04:49:30.49301", "date/time field value out of range"),
    ])
    func `a value that does not fit a type is refused without the value`(
        _ type: String, _ value: String, _ reason: String
    ) throws {
        let error = Self.refusal(of: "SELECT $1::text::\(type)", [.text(value)], try ThrowawayServer.session())
        #expect(error?.cause == .value)
        #expect(error?.description.contains(reason) == true)
        #expect(error?.description.contains("49301") == false, "\(error?.description ?? "")")
    }

    @Test func `a statement that is no SQL is refused with its SQLSTATE`() throws {
        let error = Self.refusal(of: "SELEC 1", [], try ThrowawayServer.session())
        #expect(error?.cause == .refused)
        #expect(error?.state == "42601")
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

    @Test func `refused statements leave a bounded number of prepared ones on the server`() throws {
        let session = try ThrowawayServer.session()
        for number in 0..<600 {
            let commands = ["SELECT \(number)", "SELECT value FROM missing"].map { PostgreSQLCommand($0) }
            #expect(throws: PostgreSQLError.self) { () throws in try session.run(commands) }
        }
        let kept = try session.execute("SELECT count(*) FROM pg_prepared_statements").first?.integer(0)
        #expect(kept.map { $0 <= 502 } == true, "\(kept ?? 0)")
    }

    @Test func `a statement whose table has changed is prepared again`() throws {
        let session = try ThrowawayServer.session()
        try session.script("CREATE TABLE changed (a bigint); INSERT INTO changed VALUES (1)")
        try session.execute("SELECT * FROM changed")
        try session.script("ALTER TABLE changed ADD b text")
        #expect(try session.transaction { try $0.execute("SELECT * FROM changed").first?.isNull(1) } == true)
    }
}
