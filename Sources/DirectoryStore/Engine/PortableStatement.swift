// SPDX-License-Identifier: Apache-2.0

import PostgreSQL
import Synchronization

/// A statement in the form of PostgreSQL: `$n` for `?`, `?n` and `:name`, each with the type of its argument.
///
/// The type is written out, because the server cannot infer it everywhere, such as in `? IS NULL`.
struct PortableStatement: Sendable {
    let text: String
    /// The values in the order of `$1`, `$2` and so on.
    private let sources: [Source]

    private enum Source: Hashable, Sendable {
        case place(Int)
        case name(String)
    }

    /// Translates a statement for arguments of these types.
    init(_ sql: String, _ types: [SQLType], _ named: [String: SQLType]) {
        var text: [UInt8] = []
        var sources: [Source] = []
        var next = 0
        var rest = Array(sql.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                // A quote within quotes is two quotes, which read as two quoted texts.
                let end = rest.firstIndex(of: byte).map { rest.index(after: $0) } ?? rest.endIndex
                text.append(byte)
                text += rest[..<end]
                rest = rest[end...]
            case UInt8(ascii: "?"):
                let digits = rest.prefix { (48...57).contains($0) }
                rest = rest.dropFirst(digits.count)
                let place = Int(String(decoding: digits, as: UTF8.self)).map { $0 - 1 } ?? next
                next = place + 1
                Self.append(.place(place), place < types.count ? types[place] : nil, &sources, to: &text)
            case UInt8(ascii: ":") where rest.first == byte:
                // A cast.
                text += [byte, byte]
                rest = rest.dropFirst()
            case UInt8(ascii: ":") where rest.first.map(Self.isLetter) == true:
                let name = String(decoding: rest.prefix(while: Self.isLetter), as: UTF8.self)
                rest = rest.dropFirst(name.utf8.count)
                Self.append(.name(name), named[name], &sources, to: &text)
            default: text.append(byte)
            }
        }
        self.text = String(decoding: text, as: UTF8.self)
        self.sources = sources
    }

    /// The values for `$1`, `$2` and so on; a missing argument is null, as in SQLite.
    func values(_ arguments: SQLArguments) -> [PostgreSQLValue] {
        sources.map { source in
            switch source {
            case .place(let place):
                place < arguments.positional.count ? arguments.positional[place].forPostgreSQL : .null
            case .name(let name): arguments.named[name]?.forPostgreSQL ?? .null
            }
        }
    }

    private static func append(_ source: Source, _ type: SQLType?, _ sources: inout [Source], to text: inout [UInt8]) {
        let place = sources.firstIndex(of: source) ?? sources.endIndex
        if place == sources.endIndex { sources.append(source) }
        text += "$\(place + 1)".utf8
        if let type { text += "::\(type.postgreSQLName)".utf8 }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (97...122).contains(byte | 0x20) || (48...57).contains(byte) || byte == UInt8(ascii: "_")
    }
}

/// Translated statements by their text and the types of their arguments; thread-safe.
final class PortableStatements: Sendable {
    private struct Key: Hashable {
        let sql: String
        let types: [SQLType]
        let named: [String: SQLType]
    }

    private let known = Mutex<[Key: PortableStatement]>([:])

    /// The program has some hundred statements; more would be a statement with a value in its text.
    private static let most = 2_000

    func statement(_ sql: String, _ arguments: SQLArguments) -> PortableStatement {
        let key = Key(
            sql: sql, types: arguments.positional.map(\.type), named: arguments.named.mapValues(\.type))
        return known.withLock { known in
            if let statement = known[key] { return statement }
            let statement = PortableStatement(sql, key.types, key.named)
            if known.count >= Self.most { known = [:] }
            known[key] = statement
            return statement
        }
    }
}

extension SQLType {
    /// The name of the type in a cast.
    var postgreSQLName: String {
        switch self {
        case .integer: "bigint"
        case .boolean: "boolean"
        case .text: "text"
        case .bytes: "bytea"
        }
    }
}

extension SQLValue {
    var forPostgreSQL: PostgreSQLValue {
        switch self {
        case .null: .null
        case .integer(let value): .integer(value)
        case .boolean(let value): .flag(value)
        case .text(let value): .text(value)
        case .bytes(let value): .bytes([UInt8](value))
        }
    }
}
