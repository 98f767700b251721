// SPDX-License-Identifier: Apache-2.0

import Branding
import Primitives

/// An event as `EventMinter` wrote it: the places of its texts, one for each column of its row.
public struct MintedEvent: Sendable {
    public let key: Range<Int>
    public let number: Range<Int>
    public let surface: Range<Int>
    public let displayedAt: Range<Int>
    /// The JSON of `OutcomeEvent.Meta`, in a fixed order and without unknown fields.
    public let meta: Range<Int>
    /// Nil without customers.
    public let customer: Range<Int>?
}

// Written by hand, because `JSONEncoder` takes ten times as long and a call has two events. The name of a field is the
// JSON before its value.
extension TextBuffer {
    /// Adds a field with a text, unless that is nil.
    mutating func field(_ name: StaticString, _ value: String?) {
        guard var value else { return }
        append(literal: name)
        value.withUTF8 { text in
            if Self.isPlain(text) {
                append(UnsafeRawBufferPointer(text))
            } else {
                for byte in text { escape(byte) }
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// Adds a field with a number, unless that is nil.
    mutating func field(_ name: StaticString, _ value: E164Number?) {
        guard let value else { return }
        append(literal: name)
        append(value)
        append(UInt8(ascii: "\""))
    }

    /// Adds a field with a time, in microseconds since 1970.
    mutating func field(_ name: StaticString, time: Int64) {
        append(literal: name)
        append(time: time)
        append(UInt8(ascii: "\""))
    }

    /// Adds a field with an integer, unless that is nil.
    mutating func field(_ name: StaticString, _ value: Int?) {
        guard let value else { return }
        append(literal: name)
        if value < 0 { append(UInt8(ascii: "-")) }
        append(decimal: UInt64(value.magnitude))
    }

    mutating func field(_ name: StaticString, _ value: Bool) {
        append(literal: name)
        append(literal: value ? "true" : "false")
    }

    /// Adds a number with its plus sign, as `description` has it.
    mutating func append(_ number: E164Number) {
        append(UInt8(ascii: "+"))
        append(decimal: number.digits)
    }

    /// Adds a time, in microseconds since 1970; earlier ones are written as 1970.
    mutating func append(time microseconds: Int64) {
        let time = UTCTimestamp.bytes(seconds: max(0, microseconds / 1_000_000))
        time.span.withUnsafeBytes { _ = append($0) }
    }

    /// Whether no byte is to be escaped.
    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    /// Escapes quote, backslash and control characters, RFC 8259 §7.
    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            append(UInt8(ascii: "\\"))
            append(byte)
        case 0..<0x20:
            append("\\u00\(Hexadecimal.text([byte]))")
        default:
            append(byte)
        }
    }
}
