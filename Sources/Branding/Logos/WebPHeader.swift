// SPDX-License-Identifier: Apache-2.0

/// The size of a WebP (RFC 9649 §2). Pure; hostile input is safe.
enum WebPHeader {
    static func begins(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 12 && bytes.starts(with: Array("RIFF".utf8)) && bytes[8..<12].elementsEqual("WEBP".utf8)
    }

    /// The size of the canvas or of the only picture.
    static func size(of bytes: [UInt8]) throws(LogoPictureError) -> (Int, Int) {
        guard bytes.count >= 30, number(bytes, 4, 4) + 8 <= bytes.count else { throw .cut }
        switch String(decoding: bytes[12..<16], as: UTF8.self) {
        case "VP8X": return (number(bytes, 24, 3) + 1, number(bytes, 27, 3) + 1)
        case "VP8L":
            guard bytes[20] == 0x2F else { throw .noSize }
            let sides = number(bytes, 21, 4)
            return (sides & 0x3FFF + 1, sides >> 14 & 0x3FFF + 1)
        case "VP8 ":
            guard bytes[23..<26].elementsEqual([0x9D, 0x01, 0x2A]) else { throw .noSize }
            return (number(bytes, 26, 2) & 0x3FFF, number(bytes, 28, 2) & 0x3FFF)
        default: throw .noSize
        }
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int {
        bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
