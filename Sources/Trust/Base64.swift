// SPDX-License-Identifier: Apache-2.0

/// Decodes base64 in its canonical form alone: unused low bits are zero, and no other characters are skipped (RFC 4648 §3.5).
enum Base64 {
    /// The alphabet: of tokens without padding (RFC 7515 §2), or of digests and certificates.
    enum Alphabet { case url, standard }

    /// The count of bytes that some characters without padding have.
    static func decodedCount(_ characters: Int) -> Int { characters * 3 / 4 }

    /// The bytes of base64url without padding; nil for another character, length or unused bit.
    static func decode(_ text: Span<UInt8>, _ alphabet: Alphabet = .url) -> [UInt8]? {
        let table = alphabet == .url ? urlValues : standardValues
        let count = text.count
        let rest = count & 3
        guard rest != 1 else { return nil }
        var isBad: UInt8 = 0
        let values = table.span
        let decoded = [UInt8](capacity: decodedCount(count)) { output in
            var index = 0
            var bits: UInt32 = 0
            while index < count - rest {
                let a = values[Int(text[index])], b = values[Int(text[index + 1])]
                let c = values[Int(text[index + 2])], d = values[Int(text[index + 3])]
                isBad |= a | b | c | d
                bits = UInt32(a & 63) << 18 | UInt32(b & 63) << 12 | UInt32(c & 63) << 6 | UInt32(d & 63)
                output.append(UInt8(truncatingIfNeeded: bits >> 16))
                output.append(UInt8(truncatingIfNeeded: bits >> 8))
                output.append(UInt8(truncatingIfNeeded: bits))
                index += 4
            }
            guard rest > 1 else { return }
            let a = values[Int(text[index])], b = values[Int(text[index + 1])]
            let c = rest == 3 ? values[Int(text[index + 2])] : 0
            isBad |= a | b | c
            // The bits that no byte takes must be zero.
            isBad |= (rest == 3 ? c & 3 : b & 15) == 0 ? 0 : 0x80
            output.append((a & 63) << 2 | (b & 63) >> 4)
            if rest == 3 { output.append((b & 63) << 4 | (c & 63) >> 2) }
        }
        return isBad & 0x80 == 0 ? decoded : nil
    }

    private static let urlValues = values("-", "_")
    private static let standardValues = values("+", "/")

    /// The values of all bytes, `0x80` for a byte outside of the alphabet.
    private static func values(_ second: Unicode.Scalar, _ last: Unicode.Scalar) -> [UInt8] {
        var values = [UInt8](repeating: 0x80, count: 256)
        for index in 0..<26 {
            values[Int(UInt8(ascii: "A")) + index] = UInt8(index)
            values[Int(UInt8(ascii: "a")) + index] = UInt8(26 + index)
        }
        for index in 0..<10 { values[Int(UInt8(ascii: "0")) + index] = UInt8(52 + index) }
        values[Int(UInt8(ascii: second))] = 62
        values[Int(UInt8(ascii: last))] = 63
        return values
    }
}

extension Base64 {
    /// The base64url text of bytes, without padding.
    static func encodeURL(_ bytes: [UInt8]) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 4 / 3 + 2)
        var bits = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | Int(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[bits >> count & 63])
            }
            bits &= 0xFF
        }
        if count > 0 { text.append(alphabet[bits << (6 - count) & 63]) }
        return text
    }
}
