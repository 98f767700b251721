// SPDX-License-Identifier: Apache-2.0

/// The escapes of a URL or a form (RFC 3986 §2.1), read as leniently as clients write them.
enum PercentEscapes {
    /// Resolves `%` with two hexadecimal digits; any other `%` stays.
    static func resolved(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.contains(UInt8(ascii: "%")) else { return Array(text) }
        var out: [UInt8] = []
        out.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), rest.count >= 2, let high = hexadecimal(rest[rest.startIndex]),
                let low = hexadecimal(rest[rest.startIndex + 1])
            else {
                out.append(byte)
                continue
            }
            out.append(high << 4 | low)
            rest.removeFirst(2)
        }
        return out
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
