// SPDX-License-Identifier: Apache-2.0

/// Lines and fields of a header section that the index refuses: nothing of it is taken for well formed.
enum FieldLines {
    /// The first byte behind the line ends that may precede a message (RFC 3261 §7.5).
    static func messageStart(_ bytes: Span<UInt8>) -> Int {
        var start = 0
        while start < bytes.count, bytes[start] == 13 || bytes[start] == 10 { start += 1 }
        return start
    }

    /// Behind the line feed that ends a line, or behind all bytes.
    static func lineEnd(_ bytes: Span<UInt8>, from start: Int) -> Int {
        min(bytes.position(in: start..<bytes.count) { $0.marks(10) } + 1, bytes.count)
    }

    /// Behind the last folded line of a field (RFC 3261 §7.3.1).
    static func fieldEnd(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var end = lineEnd(bytes, from: start)
        while end < bytes.count, bytes[end] == 32 || bytes[end] == 9 { end = lineEnd(bytes, from: end) }
        return end
    }

    /// Whether an empty line begins here.
    static func isEmpty(_ bytes: Span<UInt8>, _ start: Int) -> Bool {
        bytes[start] == 10 || bytes[start] == 13 && start + 1 < bytes.count && bytes[start + 1] == 10
    }

    /// The token in front of a field's colon; nil where there is none.
    static func name(_ bytes: Span<UInt8>, _ field: Range<Int>) -> Range<Int>? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: field) else { return nil }
        let name = LWS.trimmedEnd(bytes, field.lowerBound..<colon)
        return !name.isEmpty && Token.isWhole(bytes, name) ? name : nil
    }

    /// Calls `body` with each field up to the empty line; returns where that line begins, or behind all bytes.
    static func each(_ bytes: Span<UInt8>, from start: Int, _ body: (Range<Int>) -> Bool) -> Int {
        var position = start
        while position < bytes.count, !isEmpty(bytes, position) {
            let field = position..<fieldEnd(bytes, from: position)
            position = field.upperBound
            guard body(field) else { break }
        }
        return position
    }
}
