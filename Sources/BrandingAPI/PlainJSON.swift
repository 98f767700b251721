// SPDX-License-Identifier: Apache-2.0

/// Parses JSON in one pass, without the objects of Foundation.
///
/// Every event passes here, and Foundation takes a microsecond for each value. It accepts plain JSON alone (RFC 8259):
/// UTF-8, no member twice, integers of at most 18 digits, no surrogate escapes. Foundation decides about other text, so
/// both give the same result.
struct PlainJSON {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0

    /// The value of a text; nil if Foundation has to decide.
    ///
    /// - Parameter levels: the deepest nesting of lists and objects.
    static func value(of bytes: UnsafeBufferPointer<UInt8>, levels: Int) -> JSONValue? {
        var text = PlainJSON(bytes: bytes)
        text.skipBlanks()
        guard let value = text.value(levels: levels) else { return nil }
        text.skipBlanks()
        return text.place == bytes.count ? value : nil
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
    }

    private mutating func takes(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        place += 1
        return true
    }

    private mutating func takes(_ word: StaticString) -> Bool {
        guard bytes.count - place >= word.utf8CodeUnitCount else { return false }
        for offset in 0..<word.utf8CodeUnitCount where bytes[place + offset] != word.utf8Start[offset] { return false }
        place += word.utf8CodeUnitCount
        return true
    }

    private mutating func value(levels: Int) -> JSONValue? {
        guard let byte = next else { return nil }
        switch byte {
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "{"): return levels > 0 ? object(levels: levels - 1) : nil
        case UInt8(ascii: "["): return levels > 0 ? list(levels: levels - 1) : nil
        case UInt8(ascii: "t"): return takes("true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return takes("false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return takes("null") ? .null : nil
        default: return number()
        }
    }

    private mutating func object(levels: Int) -> JSONValue? {
        place += 1
        var members: [String: JSONValue] = [:]
        skipBlanks()
        if takes(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            guard next == UInt8(ascii: "\""), let name = string() else { return nil }
            skipBlanks()
            guard takes(UInt8(ascii: ":")) else { return nil }
            skipBlanks()
            guard let value = value(levels: levels), members.updateValue(value, forKey: name) == nil else { return nil }
            skipBlanks()
            if takes(UInt8(ascii: "}")) { return .object(members) }
            guard takes(UInt8(ascii: ",")) else { return nil }
        }
    }

    private mutating func list(levels: Int) -> JSONValue? {
        place += 1
        var values: [JSONValue] = []
        skipBlanks()
        if takes(UInt8(ascii: "]")) { return .array(values) }
        while true {
            skipBlanks()
            guard let value = value(levels: levels) else { return nil }
            values.append(value)
            skipBlanks()
            if takes(UInt8(ascii: "]")) { return .array(values) }
            guard takes(UInt8(ascii: ",")) else { return nil }
        }
    }

    private mutating func string() -> String? {
        place += 1
        let start = place
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: "\"") {
                defer { place += 1 }
                return String(validating: bytes[start..<place], as: UTF8.self)
            }
            if byte < 0x20 { return nil }
            if byte == UInt8(ascii: "\\") { return escapedString(from: start) }
            place += 1
        }
        return nil
    }

    /// The string with escapes that begins at `start`; the first escape is next.
    private mutating func escapedString(from start: Int) -> String? {
        var text = Array(bytes[start..<place])
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if byte == UInt8(ascii: "\"") { return String(validating: text, as: UTF8.self) }
            if byte < 0x20 { return nil }
            if byte != UInt8(ascii: "\\") {
                text.append(byte)
                continue
            }
            guard let scalar = escape() else { return nil }
            text += UTF8.encode(scalar).map { Array($0) } ?? []
        }
        return nil
    }

    /// The character of an escape behind its backslash.
    private mutating func escape() -> Unicode.Scalar? {
        guard let kind = next else { return nil }
        place += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(kind)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            guard bytes.count - place >= 4 else { return nil }
            var code: UInt32 = 0
            for _ in 0..<4 {
                guard let digit = Self.digit(bytes[place]) else { return nil }
                code = code << 4 | digit
                place += 1
            }
            return Unicode.Scalar(code)
        default: return nil
        }
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    private mutating func number() -> JSONValue? {
        let start = place
        let isNegative = takes(UInt8(ascii: "-"))
        let first = place
        var value = 0
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9"), place - first < 18 {
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            place += 1
        }
        let digits = place - first
        guard digits > 0, digits == 1 || bytes[first] != UInt8(ascii: "0") else { return nil }
        switch next ?? 0 {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return nil
        case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): return fraction(from: start)
        default: return isNegative && value == 0 ? nil : .int(isNegative ? -value : value)
        }
    }

    /// The number with a fraction or an exponent that begins at `start`.
    private mutating func fraction(from start: Int) -> JSONValue? {
        func digits(_ text: inout PlainJSON) -> Bool {
            let first = text.place
            while let byte = text.next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { text.place += 1 }
            return text.place > first
        }
        if takes(UInt8(ascii: ".")), !digits(&self) { return nil }
        if takes(UInt8(ascii: "e")) || takes(UInt8(ascii: "E")) {
            if !takes(UInt8(ascii: "+")) { _ = takes(UInt8(ascii: "-")) }
            if !digits(&self) { return nil }
        }
        guard let value = Double(String(decoding: bytes[start..<place], as: UTF8.self)), value.isFinite, value != 0
        else {
            return nil
        }
        return Int(exactly: value).map { .int($0) } ?? .double(value)
    }
}
