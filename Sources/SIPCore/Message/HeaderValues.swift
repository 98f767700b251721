// SPDX-License-Identifier: Apache-2.0

public import Primitives

/// The values of a header field that lists several, separated by commas (RFC 3261 §7.3.1).
///
/// Commas inside quoted strings and inside angle brackets do not separate, so `<data:…,…>` stays one value.
public struct HeaderValues: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var position: Int
    private let end: Int

    /// Iterates the values in `bytes[range]`, each without the white space around it; empty ones are left out.
    public init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    public mutating func next() -> Range<Int>? {
        var next = position
        defer { position = next }
        return Self.next(in: bytes.span, from: &next, to: end)
    }

    /// The next value, from which the position moves on.
    static func next(in bytes: Span<UInt8>, from position: inout Int, to end: Int) -> Range<Int>? {
        while position < end {
            let start = position
            position = valueEnd(bytes, from: start, to: end)
            let value = LWS.trimmed(bytes, start..<position)
            position += 1
            if !value.isEmpty { return value }
        }
        return nil
    }

    private static func valueEnd(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int {
        var position = start
        while position < end {
            position = bytes.position(in: position..<end) {
                $0.marks(UInt8(ascii: ",")) | $0.marks(UInt8(ascii: "\"")) | $0.marks(UInt8(ascii: "<"))
            }
            guard position < end, bytes[position] != UInt8(ascii: ",") else { return position }
            if bytes[position] == UInt8(ascii: "<") {
                position = bytes.position(in: position..<end) { $0.marks(UInt8(ascii: ">")) }
            } else {
                position = QuotedString.end(bytes, openingAt: position, limit: end)
            }
        }
        return end
    }
}

extension QuotedString {
    /// First position after the closing quote of the string that opens at `openingAt`; `limit` when it never closes.
    public static func end(_ bytes: [UInt8], openingAt: Int, limit: Int) -> Int {
        end(bytes.span, openingAt: openingAt, limit: limit)
    }

    /// First position after the closing quote of the string that opens at `openingAt`; `limit` when it never closes.
    static func end(_ bytes: Span<UInt8>, openingAt: Int, limit: Int) -> Int {
        var position = openingAt + 1
        while position < limit {
            position = bytes.position(in: position..<limit) {
                $0.marks(UInt8(ascii: "\"")) | $0.marks(UInt8(ascii: "\\"))
            }
            guard position < limit else { break }
            if bytes[position] == UInt8(ascii: "\"") { return position + 1 }
            position += 2
        }
        return limit
    }
}

/// Parameters behind a value: `;name=value;flag` (generic-param, RFC 3261 §25.1).
public struct HeaderParameters: Sequence, IteratorProtocol {
    /// One parameter: its name, and its value, which is empty at the end of the name for a flag.
    public typealias Element = (name: Range<Int>, value: Range<Int>)

    private let bytes: [UInt8]
    private var position: Int
    private let end: Int

    /// Iterates the parameters in `bytes[range]`, from the first semicolon on.
    public init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        position = bytes.firstIndex(of: UInt8(ascii: ";"), in: range) ?? range.upperBound
        end = range.upperBound
    }

    public mutating func next() -> Element? {
        var next = position
        defer { position = next }
        return Self.next(in: bytes.span, from: &next, to: end)
    }

    /// The parameter behind the semicolon at the position, which moves to the next one.
    static func next(in bytes: Span<UInt8>, from position: inout Int, to end: Int) -> Element? {
        guard position < end else { return nil }
        let start = position + 1
        position = parameterEnd(bytes, from: start, to: end)
        let whole = LWS.trimmed(bytes, start..<position)
        let equals = bytes.firstIndex(of: UInt8(ascii: "="), in: whole) ?? whole.upperBound
        let value = Swift.min(equals + 1, whole.upperBound)..<whole.upperBound
        let valueStart = LWS.skipped(bytes, value)
        return (LWS.trimmedEnd(bytes, whole.lowerBound..<equals), valueStart..<value.upperBound)
    }

    /// The extent of the value of the first parameter of that name; empty for a flag, nil when it is not there.
    public static func find(_ name: StaticString, in bytes: [UInt8], _ range: Range<Int>) -> Range<Int>? {
        find(name, in: bytes.span, range)
    }

    /// The extent of the value of the first parameter of that lower-case name; empty for a flag, nil when it is not there.
    @inline(__always)
    static func find(_ name: StaticString, in bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int>? {
        let end = range.upperBound
        var position = bytes.firstIndex(of: UInt8(ascii: ";"), in: range) ?? end
        while position < end {
            let start = position + 1
            if let nameEnd = nameEnd(name, in: bytes, start..<end) {
                let after = LWS.skipped(bytes, nameEnd..<end)
                guard after < end, bytes[after] == UInt8(ascii: "=") else { return nameEnd..<nameEnd }
                let value = LWS.trimmedEnd(bytes, (after + 1)..<parameterEnd(bytes, from: after, to: end))
                return LWS.skipped(bytes, value)..<value.upperBound
            }
            position = parameterEnd(bytes, from: start, to: end)
        }
        return nil
    }

    /// Where the name of the parameter in front ends; nil where it is another one.
    @inline(__always)
    private static func nameEnd(_ name: StaticString, in bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        let start = LWS.skipped(bytes, range)
        let nameEnd = start + name.utf8CodeUnitCount
        guard nameEnd <= range.upperBound, bytes.matches(start..<nameEnd, name) else { return nil }
        let after = LWS.skipped(bytes, nameEnd..<range.upperBound)
        let isWhole =
            after == range.upperBound || bytes[after] == UInt8(ascii: "=") || bytes[after] == UInt8(ascii: ";")
        return isWhole ? nameEnd : nil
    }

    /// Position of the semicolon that ends the parameter, quoted strings passed over.
    private static func parameterEnd(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int {
        var position = start
        while position < end {
            position = bytes.position(in: position..<end) {
                $0.marks(UInt8(ascii: ";")) | $0.marks(UInt8(ascii: "\""))
            }
            guard position < end, bytes[position] == UInt8(ascii: "\"") else { break }
            position = QuotedString.end(bytes, openingAt: position, limit: end)
        }
        return Swift.min(position, end)
    }
}
