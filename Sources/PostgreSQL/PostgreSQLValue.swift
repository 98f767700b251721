// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A value for a parameter `$n` of a statement.
///
/// The server infers the parameter's type when it prepares the statement; a cast such as `$1::bigint` decides where it
/// cannot. The value is then written in the binary form of that type. Integers fit smallint, integer, bigint and
/// boolean, and are microseconds since 1970 for timestamps. Texts fit every type by its text form. Arrays are for
/// `unnest` and `= ANY($1)`; their elements are null where nil.
///
/// PostgreSQL stores no NUL in a text. U+FFFD takes its place.
package enum PostgreSQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case double(Double)
    case flag(Bool)
    case text(String)
    /// Bytes of a bytea, or the 16 bytes of a uuid.
    case bytes([UInt8])
    case integers([Int64?])
    case flags([Bool?])
    case texts([String?])
    case byteStrings([[UInt8]?])

    /// The integer, or null.
    package static func integer(_ value: Int64?) -> PostgreSQLValue { value.map { .integer($0) } ?? .null }

    /// The text, or null.
    package static func text(_ value: String?) -> PostgreSQLValue { value.map { .text($0) } ?? .null }

    /// The bytes, or null.
    package static func bytes(_ value: [UInt8]?) -> PostgreSQLValue { value.map { .bytes($0) } ?? .null }
}

extension PostgreSQLValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral
{
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
    package init(booleanLiteral value: Bool) { self = .flag(value) }
    package init(nilLiteral: ()) { self = .null }
}

/// Object identifiers of PostgreSQL's types (`pg_type.dat`), with the types of their arrays.
enum TypeOID {
    static let (flag, bytes, name, int8, int2, int4): (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) =
        (16, 17, 19, 20, 21, 23)
    static let (text, oid, json, double, bpchar, varchar): (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) =
        (25, 26, 114, 701, 1042, 1043)
    static let (timestamp, timestamptz, numeric, uuid, jsonb, float4):
        (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) =
            (1114, 1184, 1700, 2950, 3802, 700)
    /// Types of which libpq knows no form; their values are texts.
    static let unknown: UInt32 = 705

    /// The type of an array's elements; nil for other types.
    static func element(of array: UInt32) -> UInt32? { elements[array] }

    private static let elements: [UInt32: UInt32] = [
        1000: flag, 1001: bytes, 1005: int2, 1007: int4, 1009: text, 1014: bpchar, 1015: varchar, 1016: int8,
        1115: timestamp, 1185: timestamptz, 2951: uuid, 199: json, 3807: jsonb,
    ]

    /// Whether the binary form of a type is its text.
    static func isText(_ type: UInt32) -> Bool {
        [text, varchar, bpchar, name, json, unknown].contains(type)
    }

    static func isTimestamp(_ type: UInt32) -> Bool { type == timestamp || type == timestamptz }
}

/// Microseconds from 1970 to 2000, where timestamps of PostgreSQL begin.
let timestampEpoch: Int64 = 946_684_800_000_000

/// A value that no parameter of a type can have.
struct UnfitValue: Error {
    let reason: String
}

/// The parameters of one execution in the form in which libpq takes them.
struct EncodedParameters {
    private(set) var bytes: [UInt8] = []
    /// Offset and length of each value; nil for null.
    private(set) var ranges: [(offset: Int, length: Int32)?] = []
    /// 1 for the binary form of the type, 0 for its text.
    private(set) var formats: [Int32] = []

    init(_ values: [PostgreSQLValue], types: [UInt32]) throws(UnfitValue) {
        guard values.count == types.count else {
            throw UnfitValue(reason: "the statement has \(types.count) parameters and got \(values.count) values")
        }
        for (value, type) in zip(values, types) { try add(value, type) }
    }

    private mutating func add(_ value: PostgreSQLValue, _ type: UInt32) throws(UnfitValue) {
        let start = bytes.count
        var isBinary = true
        switch value {
        case .null:
            ranges.append(nil)
            formats.append(0)
            return
        case .integers(let values) where TypeOID.element(of: type) == TypeOID.int8: fill(values)
        case .integers(let values):
            try array(values, type) { (out, value, type) throws(UnfitValue) in try out.integer(value, type) }
        case .flags(let values):
            try array(values, type) { (out, value, type) throws(UnfitValue) in try out.integer(value ? 1 : 0, type) }
        case .texts(let values):
            if TypeOID.element(of: type) == TypeOID.text, fill(values) { break }
            try array(values, type) { (out, value, type) throws(UnfitValue) in try out.text(value, type) }
        case .byteStrings(let values):
            try array(values, type) { (out, value, type) throws(UnfitValue) in try out.raw(value, type) }
        case .integer(let number): isBinary = try integer(number, type)
        case .flag(let isSo): isBinary = try integer(isSo ? 1 : 0, type)
        case .double(let number): isBinary = double(number, type)
        case .text(let text): isBinary = try self.text(text, type)
        case .bytes(let raw): isBinary = try self.raw(raw, type)
        }
        ranges.append((start, Int32(clamping: bytes.count - start)))
        // libpq reads a text up to its NUL.
        if !isBinary { bytes.append(0) }
        formats.append(isBinary ? 1 : 0)
    }

    /// Appends an array in its binary form.
    private mutating func array<Element>(
        _ values: [Element?], _ type: UInt32,
        _ write: (inout EncodedParameters, Element, UInt32) throws(UnfitValue) -> Bool
    ) throws(UnfitValue) {
        guard let element = TypeOID.element(of: type) else {
            throw UnfitValue(
                reason: "an array was given for a parameter of the type \(type); add a cast such as $1::bigint[]")
        }
        head(element, count: values.count, hasNulls: values.contains { $0 == nil })
        for value in values {
            guard let value else {
                append(Int32(-1))
                continue
            }
            let length = bytes.count
            append(Int32(0))
            guard try write(&self, value, element) else {
                throw UnfitValue(reason: "elements of the type \(element) have no binary form here")
            }
            let written = Int32(clamping: bytes.count - length - 4).bigEndian
            withUnsafeBytes(of: written) { for (place, byte) in $0.enumerated() { bytes[length + place] = byte } }
        }
    }

    /// Appends an array of bigint.
    ///
    /// Arrays of this type and of text have thousands of elements in each transaction of a shared ledger. They are written in
    /// one go, which takes a third of the time of `array`.
    private mutating func fill(_ values: [Int64?]) {
        let nulls = values.count { $0 == nil }
        let place = begin(TypeOID.int8, values.count, nulls, bytes: values.count * 12 - nulls * 8)
        bytes.withUnsafeMutableBytes { buffer in
            var place = place
            for value in values {
                buffer.storeBytes(of: Int32(value == nil ? -1 : 8).bigEndian, toByteOffset: place, as: Int32.self)
                place += 4
                guard let value else { continue }
                buffer.storeBytes(of: value.bigEndian, toByteOffset: place, as: Int64.self)
                place += 8
            }
        }
    }

    /// Appends an array of text; false, and nothing is appended, if one of them has a NUL.
    private mutating func fill(_ values: [String?]) -> Bool {
        let start = bytes.count
        let (nulls, length) = values.reduce(into: (0, 0)) { sum, value in
            if let value { sum.1 += value.utf8.count } else { sum.0 += 1 }
        }
        let place = begin(TypeOID.text, values.count, nulls, bytes: values.count * 4 + length)
        let isFit = bytes.withUnsafeMutableBytes { buffer in
            var place = place
            for value in values {
                guard var value else {
                    buffer.storeBytes(of: Int32(-1).bigEndian, toByteOffset: place, as: Int32.self)
                    place += 4
                    continue
                }
                let isFit = value.withUTF8 { text in
                    let length = Int32(clamping: text.count)
                    buffer.storeBytes(of: length.bigEndian, toByteOffset: place, as: Int32.self)
                    place += 4 + text.count
                    guard let from = text.baseAddress, let to = buffer.baseAddress else { return true }
                    guard memchr(from, 0, text.count) == nil else { return false }
                    (to + place - text.count).copyMemory(from: from, byteCount: text.count)
                    return true
                }
                guard isFit else { return false }
            }
            return true
        }
        if !isFit { bytes.removeSubrange(start...) }
        return isFit
    }

    /// Appends the head of an array, and space for its elements.
    ///
    /// - Returns: the offset of the first element.
    private mutating func begin(_ element: UInt32, _ count: Int, _ nulls: Int, bytes length: Int) -> Int {
        head(element, count: count, hasNulls: nulls > 0)
        let place = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: length))
        return place
    }

    /// Appends the head of an array: dimensions, null mark, element type, and for an array with elements their number and
    /// the first index.
    private mutating func head(_ element: UInt32, count: Int, hasNulls: Bool) {
        append(Int32(count == 0 ? 0 : 1))
        append(Int32(hasNulls ? 1 : 0))
        append(Int32(bitPattern: element))
        guard count > 0 else { return }
        append(Int32(clamping: count))
        append(Int32(1))
    }

    // Each writer returns true for the binary form, false for the text.

    private mutating func integer(_ number: Int64, _ type: UInt32) throws(UnfitValue) -> Bool {
        switch type {
        case TypeOID.int8: append(number)
        case TypeOID.int4, TypeOID.oid:
            guard let number = Int32(exactly: number) else {
                throw UnfitValue(reason: "a number does not fit an integer")
            }
            append(number)
        case TypeOID.int2:
            guard let number = Int16(exactly: number) else {
                throw UnfitValue(reason: "a number does not fit a smallint")
            }
            append(number)
        case TypeOID.flag: bytes.append(number == 0 ? 0 : 1)
        case TypeOID.timestamp, TypeOID.timestamptz: append(number &- timestampEpoch)
        case _ where TypeOID.isText(type): bytes.append(contentsOf: "\(number)".utf8)
        default:
            bytes.append(contentsOf: "\(number)".utf8)
            return false
        }
        return true
    }

    private mutating func double(_ number: Double, _ type: UInt32) -> Bool {
        guard type == TypeOID.double else {
            bytes.append(contentsOf: "\(number)".utf8)
            return false
        }
        append(Int64(bitPattern: number.bitPattern))
        return true
    }

    private mutating func text(_ text: String, _ type: UInt32) throws(UnfitValue) -> Bool {
        if text.utf8.contains(0) {
            for byte in text.utf8 {
                if byte == 0 { bytes.append(contentsOf: [0xEF, 0xBF, 0xBD]) } else { bytes.append(byte) }
            }
        } else if type == TypeOID.uuid, let identifier = Self.identifier(text) {
            bytes.append(contentsOf: identifier)
            return true
        } else {
            bytes.append(contentsOf: text.utf8)
        }
        return TypeOID.isText(type)
    }

    private mutating func raw(_ raw: [UInt8], _ type: UInt32) throws(UnfitValue) -> Bool {
        guard type == TypeOID.bytes || type == TypeOID.uuid && raw.count == 16 else {
            throw UnfitValue(
                reason: "bytes were given for a parameter of the type \(type); use a bytea or 16 bytes of a uuid")
        }
        bytes.append(contentsOf: raw)
        return true
    }

    /// The 16 bytes of 32 hexadecimal digits, with or without hyphens.
    private static func identifier(_ text: String) -> [UInt8]? {
        var digits: [UInt8] = []
        for character in text.utf8 where character != UInt8(ascii: "-") {
            guard let digit = Character(UnicodeScalar(character)).hexDigitValue else { return nil }
            digits.append(UInt8(digit))
        }
        guard digits.count == 32 else { return nil }
        return stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
