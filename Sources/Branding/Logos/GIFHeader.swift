// SPDX-License-Identifier: Apache-2.0

/// The size of a GIF (GIF89a specification, §17 to §23). Pure; hostile input is safe.
enum GIFHeader {
    static func begins(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: Array("GIF87a".utf8)) || bytes.starts(with: Array("GIF89a".utf8))
    }

    /// The size of the first frame, or of the screen if that is larger. The first frame must be whole.
    static func size(of bytes: [UInt8]) throws(LogoPictureError) -> (Int, Int) {
        guard bytes.count >= 13 else { throw .cut }
        let screen = (number(bytes, 6), number(bytes, 8))
        var place = 13 + table(bytes[10])
        while place < bytes.count {
            switch bytes[place] {
            case 0x21: place = try end(ofBlocksFrom: place + 2, bytes)
            case 0x2C:
                guard place + 10 <= bytes.count else { throw .cut }
                // Behind the descriptor: a table of colours, the size of a code, and the blocks of the pixels.
                _ = try end(ofBlocksFrom: place + 10 + table(bytes[place + 9]) + 1, bytes)
                return (max(screen.0, number(bytes, place + 5)), max(screen.1, number(bytes, place + 7)))
            default: throw .noSize
            }
        }
        throw .cut
    }

    /// Bytes of the table of colours that the flags announce.
    private static func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }

    private static func end(ofBlocksFrom start: Int, _ bytes: [UInt8]) throws(LogoPictureError) -> Int {
        var place = start
        while place < bytes.count {
            if bytes[place] == 0 { return place + 1 }
            place += 1 + Int(bytes[place])
        }
        throw .cut
    }

    private static func number(_ bytes: [UInt8], _ start: Int) -> Int { Int(bytes[start]) | Int(bytes[start + 1]) << 8 }
}
