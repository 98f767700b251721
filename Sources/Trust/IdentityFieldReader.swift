// SPDX-License-Identifier: Apache-2.0

/// One value of an Identity header field, as positions in the field (RFC 8224 §4).
struct IdentityValue {
    /// The token up to the first semicolon.
    var token: Range<Int>
    /// The URI of `info` without its angle brackets; nil if missing, or without brackets or scheme.
    var info: Range<Int>?
    /// The value of `alg` without quotes.
    var alg: Range<Int>?
    /// The value of `ppt` without quotes.
    var ppt: Range<Int>?
    /// Whether there are parameters beyond these three.
    var hasOthers = false
    /// Whether the parameters follow the grammar, and none comes twice.
    var isSound = true
}

/// Takes Identity header fields apart: values separated by commas, each a token with parameters.
struct IdentityFieldReader {
    /// The value of the header field.
    let bytes: [UInt8]
    private var position = 0

    /// A reader of one header field's value.
    init(_ message: Span<UInt8>, _ field: Range<Int>) {
        bytes = message.extracting(field).withUnsafeBufferPointer { Array($0) }
    }

    /// The next value, nil behind the last one.
    mutating func next() -> IdentityValue? {
        skipSpace()
        while skip(",") { skipSpace() }
        guard position < bytes.count else { return nil }
        var value = IdentityValue(token: readWord())
        skipSpace()
        while value.isSound, skip(";") {
            readParameter(&value)
            skipSpace()
        }
        if !value.isSound || (position < bytes.count && !skip(",")) {
            value.isSound = false
            skipToComma()
        }
        return value
    }

    private mutating func skipSpace() {
        while position < bytes.count, bytes[position].isSpace { position += 1 }
    }

    private mutating func skip(_ byte: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    /// Bytes up to a separator or white space.
    private mutating func readWord() -> Range<Int> {
        let start = position
        while position < bytes.count, !bytes[position].isSeparator { position += 1 }
        return start..<position
    }

    /// Bytes between a delimiter that was just read and its counterpart; nil without the counterpart.
    private mutating func readUntil(_ last: Unicode.Scalar, escapes: Bool) -> Range<Int>? {
        let start = position
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: last) {
                position += 1
                return start..<position - 1
            }
            position += escapes && bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = bytes.count
        return nil
    }

    private mutating func readParameter(_ value: inout IdentityValue) {
        skipSpace()
        let name = readWord()
        skipSpace()
        guard !name.isEmpty else {
            value.isSound = false
            return
        }
        var content: Range<Int>?
        var isAddress = false
        if skip("=") {
            skipSpace()
            if skip("\"") {
                content = readUntil("\"", escapes: true)
            } else if skip("<") {
                isAddress = true
                content = readUntil(">", escapes: false)
            } else {
                content = readWord()
            }
            guard content?.isEmpty == false else {
                value.isSound = false
                return
            }
        }
        if isNamed(name, "info") {
            value.isSound = value.info == nil
            value.info = isAddress ? content.flatMap { hasScheme($0) ? $0 : nil } : nil
        } else if isNamed(name, "alg") {
            value.isSound = value.alg == nil
            value.alg = content
        } else if isNamed(name, "ppt") {
            value.isSound = value.ppt == nil
            value.ppt = content
        } else {
            value.hasOthers = true
        }
    }

    private mutating func skipToComma() {
        while position < bytes.count {
            if skip(",") { return }
            if skip("\"") {
                _ = readUntil("\"", escapes: true)
            } else if skip("<") {
                _ = readUntil(">", escapes: false)
            } else {
                position += 1
            }
        }
    }

    /// True if the URI begins with a scheme and a colon, without white space (RFC 3986 §3.1).
    private func hasScheme(_ uri: Range<Int>) -> Bool {
        var hasColon = false
        for index in uri {
            guard bytes[index] > 0x20, bytes[index] < 0x7F else { return false }
            if bytes[index] == UInt8(ascii: ":"), index > uri.lowerBound, index + 1 < uri.upperBound { hasColon = true }
            if !hasColon, !bytes[index].isSchemeCharacter { return false }
        }
        return hasColon
    }

    private func isNamed(_ range: Range<Int>, _ name: StaticString) -> Bool {
        bytes.span.extracting(range).equals(name)
    }
}

extension UInt8 {
    /// A blank, a tab or a part of a line end: white space of SIP and of JSON alike.
    var isSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0D || self == 0x0A }

    fileprivate var isSeparator: Bool {
        switch self {
        case UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "\""), UInt8(ascii: "<"),
            UInt8(ascii: ">"):
            true
        default: isSpace
        }
    }

    fileprivate var isSchemeCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "+-.".utf8.contains(self)
        }
    }

    /// The value of a hexadecimal digit.
    var hexadecimal: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46, 0x61...0x66: (self | 0x20) - 0x61 + 10
        default: nil
        }
    }

    /// The byte with a letter in lower case.
    var lowercase: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

extension Span<UInt8> {
    /// True if the bytes are the text, which is in lower case, in any case of letters.
    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { other in
            for index in indices where self[index].lowercase != other[index] { return false }
            return true
        }
    }

    /// True if the bytes are the other ones, in any case of letters.
    func equals(_ other: Span<UInt8>, ignoringCase: Bool = false) -> Bool {
        guard count == other.count else { return false }
        for index in indices {
            let one = self[index], two = other[index]
            if one != two, !ignoringCase || one.lowercase != two.lowercase { return false }
        }
        return true
    }
}
