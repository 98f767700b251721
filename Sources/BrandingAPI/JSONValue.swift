// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Any JSON value, for objects that the contract leaves open, such as an event's `meta`.
///
/// Parse untrusted bytes with `init(parsing:)`. `Decodable` throws an error with the whole path for each wrong type,
/// which takes seconds for a few kilobytes of nested lists.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Each wrong type costs a thrown error, so the most frequent types come first.
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSONValue {
    /// The deepest nesting of lists and objects that is parsed.
    package static let deepest = 32

    /// The reason why text is not an accepted JSON value.
    package enum ParsingError: Error, Hashable {
        /// The text is not JSON, is truncated, or has the wrong type.
        case malformed
        /// The nesting is deeper than allowed.
        case tooDeep
    }

    /// Parses JSON text in time linear in its length.
    ///
    /// - Parameter levels: the deepest nesting. Foundation rejects more than some hundred levels as malformed.
    package init(parsing text: some Sequence<UInt8>, levels: Int = deepest) throws(ParsingError) {
        let plain = text.withContiguousStorageIfAvailable { PlainJSON.value(of: $0, levels: min(levels, 100)) }
        if let value = plain ?? nil {
            self = value
            return
        }
        guard let value = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed) else {
            throw .malformed
        }
        self = try Self.convert(value, levels: levels)
    }

    /// Parses JSON text that must be an object.
    package static func object(
        parsing text: some Sequence<UInt8>, levels: Int = deepest
    ) throws(ParsingError) -> [String: JSONValue] {
        guard case .object(let object) = try JSONValue(parsing: text, levels: levels) else { throw .malformed }
        return object
    }

    private static func convert(_ value: Any, levels: Int) throws(ParsingError) -> JSONValue {
        switch value {
        case let text as String: return .string(text)
        case let number as NSNumber: return convert(number)
        case let list as [Any]:
            guard levels > 0 else { throw .tooDeep }
            var values: [JSONValue] = []
            values.reserveCapacity(list.count)
            for value in list { values.append(try convert(value, levels: levels - 1)) }
            return .array(values)
        case let object as [String: Any]:
            guard levels > 0 else { throw .tooDeep }
            var values: [String: JSONValue] = [:]
            for (key, value) in object { values[key] = try convert(value, levels: levels - 1) }
            return .object(values)
        default: return .null
        }
    }

    private static func convert(_ number: NSNumber) -> JSONValue {
        // A Boolean is a separate kind of `NSNumber`. Other casts would read 1 as true.
        if number.objCType.pointee == CChar(bitPattern: UInt8(ascii: "c")) { return .bool(number.boolValue) }
        return Int(exactly: number).map(JSONValue.int) ?? .double(number.doubleValue)
    }
}
