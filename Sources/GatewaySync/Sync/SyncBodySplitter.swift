// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Splits the body of a sync response into its records while it arrives, in bounded memory.
///
/// It reads only strings, brackets and commas. Foundation's JSON reader then reads each record and each value beside
/// the records; no library here offers a streaming reader. Memory is bounded by the longest record and the longest
/// other value. Not thread-safe.
struct SyncBodySplitter {
    /// Longest record in bytes. The contract's longest fields take less than a quarter of it.
    static let longestRecord = 65_536
    /// Longest of the other values in bytes, `config` among them.
    static let longestValue = 262_144
    /// Deepest nesting of brackets.
    static let deepest = 32

    private enum Place {
        case start, beforeKey, key, beforeColon, beforeValue, value, afterValue
        case beforeRecord, record, afterRecord, end
    }

    private let recordsKey: String
    private var place = Place.start
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var bytes: [UInt8] = []
    private var key = ""
    /// Bytes of a byte order mark at the start that were skipped (RFC 8259 §8.1).
    private var marks = 0
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// True after a comma: another element must follow.
    private var wantsMore = false

    /// The values beside the records, by key, as received.
    private(set) var values: [String: [UInt8]] = [:]
    private(set) var hasRecords = false

    /// - Parameter recordsKey: the name of the array whose elements are the records.
    init(recordsKey: String) { self.recordsKey = recordsKey }

    /// True when the outermost object is complete.
    var isComplete: Bool { place == .end }

    /// Reads the next bytes.
    ///
    /// `record` receives the bytes of each complete element.
    ///
    /// - Throws: `SyncBodyError`. The splitter must not be fed afterwards.
    mutating func feed(
        _ input: some Sequence<UInt8>, record: (borrowing [UInt8]) throws -> Void
    ) throws {
        for byte in input { try take(byte, record) }
    }

    private mutating func take(_ byte: UInt8, _ record: (borrowing [UInt8]) throws -> Void) throws {
        switch place {
        case .value, .record, .key: return try inside(byte, record)
        default: break
        }
        if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { return }
        switch (place, byte) {
        case (.start, UInt8(ascii: "{")) where marks == 0 || marks == 3: place = .beforeKey
        case (.start, _) where marks < 3 && byte == Self.byteOrderMark[marks]: marks += 1
        case (.beforeKey, UInt8(ascii: "\"")): begin(.key)
        case (.beforeKey, UInt8(ascii: "}")) where !wantsMore: place = .end
        case (.beforeColon, UInt8(ascii: ":")): place = .beforeValue
        case (.beforeValue, UInt8(ascii: "[")) where key == recordsKey:
            guard !hasRecords else { throw SyncBodyError.twice(key) }
            hasRecords = true
            wantsMore = false
            place = .beforeRecord
        case (.beforeValue, _):
            begin(.value)
            try inside(byte, record)
        case (.afterValue, UInt8(ascii: ",")): (place, wantsMore) = (.beforeKey, true)
        case (.afterValue, UInt8(ascii: "}")): place = .end
        case (.beforeRecord, UInt8(ascii: "]")) where !wantsMore: place = .afterValue
        case (.beforeRecord, _):
            begin(.record)
            try inside(byte, record)
        case (.afterRecord, UInt8(ascii: ",")): (place, wantsMore) = (.beforeRecord, true)
        case (.afterRecord, UInt8(ascii: "]")): place = .afterValue
        default: throw SyncBodyError.notJSON
        }
    }

    private mutating func begin(_ next: Place) {
        place = next
        depth = 0
        isInString = next == .key
        isEscaped = false
        bytes.removeAll(keepingCapacity: true)
    }

    /// Takes one byte of a key, a value or a record.
    private mutating func inside(_ byte: UInt8, _ record: (borrowing [UInt8]) throws -> Void) throws {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
                if place == .key { return try endKey() }
            }
            return try keep(byte)
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            guard depth <= Self.deepest else { throw SyncBodyError.tooDeep }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            guard depth > 0 else { return try end(byte, record) }
            depth -= 1
        case UInt8(ascii: ","):
            if depth == 0 { return try end(byte, record) }
        default: break
        }
        try keep(byte)
    }

    private mutating func keep(_ byte: UInt8) throws {
        let limit = place == .record ? Self.longestRecord : place == .key ? 256 : Self.longestValue
        guard bytes.count < limit else { throw SyncBodyError.tooLong(place == .record ? "a record" : "a value") }
        bytes.append(byte)
    }

    private mutating func endKey() throws {
        key = String(decoding: bytes, as: UTF8.self)
        guard values[key] == nil, values.count < 64 else { throw SyncBodyError.twice(key) }
        place = .beforeColon
    }

    /// Ends a value or record before this byte, which belongs to the enclosing structure.
    private mutating func end(_ byte: UInt8, _ record: (borrowing [UInt8]) throws -> Void) throws {
        guard !bytes.isEmpty else { throw SyncBodyError.notJSON }
        wantsMore = false
        if place == .record {
            try record(bytes)
            place = .afterRecord
        } else {
            values[key] = bytes
            place = .afterValue
        }
        try take(byte, record)
    }
}

/// Why the body of a sync response cannot be read. Nothing of it is used.
enum SyncBodyError: Error, Hashable, CustomStringConvertible {
    case notJSON
    case twice(String)
    case tooDeep
    case tooLong(String)
    case cut

    var description: String {
        switch self {
        case .notJSON: "it is not a JSON object of the contract"
        case .twice(let key): "\(ServerText.clean(key.prefix(64))) is in it twice, or it has too many fields"
        case .tooDeep: "it has brackets more than \(SyncBodySplitter.deepest) deep"
        case .tooLong(let what): "\(what) in it is longer than any can be"
        case .cut: "broken or incomplete JSON"
        }
    }
}
