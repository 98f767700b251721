// SPDX-License-Identifier: Apache-2.0

import CPostgres

/// The rows of one statement, in memory until the last reference to them; one thread.
package final class PostgreSQLRows: Sequence {
    private let result: OpaquePointer
    let server: String
    /// Number of rows.
    package let count: Int
    /// Rows that the statement inserted, changed, deleted or selected.
    package let affected: Int
    /// Types of the columns.
    let types: [UInt32]
    /// Names of the columns.
    package let names: [String]

    /// Takes over a result of libpq.
    init(_ result: OpaquePointer, server: String) {
        self.result = result
        self.server = server
        count = Int(PQntuples(result))
        affected = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
        types = (0..<PQnfields(result)).map { PQftype(result, $0) }
        names = (0..<PQnfields(result)).map { column in PQfname(result, column).map { String(cString: $0) } ?? "" }
    }

    deinit { PQclear(result) }

    package subscript(row: Int) -> PostgreSQLRow { PostgreSQLRow(rows: self, index: Int32(row)) }

    /// The first row; nil without rows.
    package var first: PostgreSQLRow? { count > 0 ? self[0] : nil }

    package func makeIterator() -> AnyIterator<PostgreSQLRow> {
        var next = 0
        return AnyIterator {
            guard next < self.count else { return nil }
            defer { next += 1 }
            return self[next]
        }
    }

    /// The bytes of a value, valid as long as the rows; nil for null.
    fileprivate func value(_ row: Int32, _ column: Int) -> UnsafeRawBufferPointer? {
        guard PQgetisnull(result, row, Int32(column)) == 0, let start = PQgetvalue(result, row, Int32(column)) else {
            return nil
        }
        return UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, Int32(column))))
    }
}

/// One row; columns count from 0.
///
/// Each getter returns nil for null, and throws a `PostgreSQLError` for a column of another kind, which is a mistake in
/// the statement.
package struct PostgreSQLRow {
    fileprivate let rows: PostgreSQLRows
    fileprivate let index: Int32

    /// Whether the value is null.
    package func isNull(_ column: Int) -> Bool { rows.value(index, column) == nil }

    /// An integer of any size, a numeric without fraction, 0 or 1 of a boolean, or a timestamp in microseconds since 1970.
    package func integer(_ column: Int) throws -> Int64? {
        guard let bytes = rows.value(index, column) else { return nil }
        let type = rows.types[column]
        switch (type, bytes.count) {
        case (TypeOID.int8, 8): return Self.number(bytes, Int64.self)
        case (TypeOID.int4, 4): return Int64(Self.number(bytes, Int32.self))
        case (TypeOID.oid, 4): return Int64(Self.number(bytes, UInt32.self))
        case (TypeOID.int2, 2): return Int64(Self.number(bytes, Int16.self))
        case (TypeOID.flag, 1): return Int64(bytes[0])
        case (_, 8) where TypeOID.isTimestamp(type): return Self.number(bytes, Int64.self) &+ timestampEpoch
        case (TypeOID.numeric, _):
            if let number = Self.numeric(bytes) { return number }
        default: break
        }
        throw mismatch(column, "an integer")
    }

    /// A text, a JSON document, or a uuid in its usual form.
    package func text(_ column: Int) throws -> String? {
        guard let bytes = rows.value(index, column) else { return nil }
        let type = rows.types[column]
        if TypeOID.isText(type) { return String(decoding: bytes, as: UTF8.self) }
        // The binary form of jsonb is a version and its text.
        if type == TypeOID.jsonb, bytes.first == 1 { return String(decoding: bytes.dropFirst(), as: UTF8.self) }
        if type == TypeOID.uuid, bytes.count == 16 { return Self.identifier(bytes) }
        throw mismatch(column, "a text")
    }

    /// A bytea or the 16 bytes of a uuid.
    package func bytes(_ column: Int) throws -> [UInt8]? {
        try withBytes(column) { Array($0) }
    }

    /// Passes the bytes of a bytea, uuid or text without copying them.
    package func withBytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
        guard let bytes = rows.value(index, column) else { return nil }
        let type = rows.types[column]
        guard type == TypeOID.bytes || type == TypeOID.uuid || TypeOID.isText(type) else {
            throw mismatch(column, "bytes")
        }
        return try body(bytes)
    }

    /// A boolean, or an integer that is not 0.
    package func flag(_ column: Int) throws -> Bool? { try integer(column).map { $0 != 0 } }

    /// A floating-point number or an integer.
    package func double(_ column: Int) throws -> Double? {
        guard let bytes = rows.value(index, column) else { return nil }
        switch (rows.types[column], bytes.count) {
        case (TypeOID.double, 8): return Double(bitPattern: Self.number(bytes, UInt64.self))
        case (TypeOID.float4, 4): return Double(Float(bitPattern: Self.number(bytes, UInt32.self)))
        default: return try integer(column).map { Double($0) }
        }
    }

    private func mismatch(_ column: Int, _ wanted: String) -> PostgreSQLError {
        PostgreSQLError(
            .value, "column \(column) of the type \(rows.types[column]) is not \(wanted)", server: rows.server)
    }

    private static func number<Number: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, _: Number.Type) -> Number {
        Number(bigEndian: bytes.loadUnaligned(as: Number.self))
    }

    /// A numeric without fraction that fits 64 bits: digits of base 10,000 after number, weight, sign and scale.
    private static func numeric(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        guard bytes.count >= 8 else { return nil }
        func part(_ place: Int) -> Int16 {
            Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: place * 2, as: Int16.self))
        }
        let (digits, weight, sign) = (Int(part(0)), Int(part(1)), UInt16(bitPattern: part(2)))
        guard sign == 0 || sign == 0x4000, digits >= 0, bytes.count == 8 + digits * 2,
            digits <= weight + 1 || digits == 0
        else { return nil }
        var sum: Int64 = 0
        for place in 0..<(digits == 0 ? 0 : weight + 1) {
            let (product, isTooLarge) = sum.multipliedReportingOverflow(by: 10_000)
            let (next, isTooLargeToo) = product.addingReportingOverflow(place < digits ? Int64(part(4 + place)) : 0)
            guard !isTooLarge, !isTooLargeToo else { return nil }
            sum = next
        }
        return sign == 0 ? sum : -sum
    }

    private static func identifier(_ bytes: UnsafeRawBufferPointer) -> String {
        var text = ""
        for (place, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(place) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return text
    }
}
