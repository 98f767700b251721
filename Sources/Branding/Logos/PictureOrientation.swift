// SPDX-License-Identifier: Apache-2.0

/// Reads how a picture is to be turned, from the Exif of PNG, JPEG and WebP. Pure; hostile input is safe.
///
/// AVIF and HEIC have boxes for it, which count instead of their Exif (ISO/IEC 23008-12 §6.5).
public enum PictureOrientation {
    /// The value of Exif 2.3 §4.6.4 A, 2 to 8; nil for an upright picture, and for one without a readable value.
    public static func of(_ bytes: [UInt8]) -> Int? {
        switch LogoPicture.Format(bytes) {
        case .jpeg: inJPEG(bytes)
        case .png: chunk("eXIf", of: bytes, from: 8) { inPNG($0) }.flatMap(inExif)
        case .webp: chunk("EXIF", of: bytes, from: 12) { inRIFF($0) }.flatMap(inExif)
        case .gif, .avif, .heic, nil: nil
        }
    }

    /// The value in a TIFF structure (tag 0x0112); nil for none, and for upright.
    static func inExif(_ content: ArraySlice<UInt8>) -> Int? {
        // Some writers put the head of a JPEG segment into other formats too.
        let isPrefixed = content.starts(with: Array("Exif\0\0".utf8))
        let tiff = Array(isPrefixed ? content.dropFirst(6) : content)
        let isLittle = tiff.starts(with: Array("II".utf8))
        func value(_ place: Int, _ count: Int) -> Int? {
            guard place >= 0, place + count <= tiff.count else { return nil }
            let field = tiff[place..<(place + count)]
            return isLittle ? number(field.reversed()) : number(field)
        }
        guard let table = value(4, 4), let entries = value(table, 2) else { return nil }
        for entry in 0..<entries where value(table + 2 + entry * 12, 2) == 0x0112 {
            guard let turn = value(table + 10 + entry * 12, 2), (2...8).contains(turn) else { return nil }
            return turn
        }
        return nil
    }

    /// The first Exif segment before the scan (ITU-T T.81 annex B).
    private static func inJPEG(_ bytes: [UInt8]) -> Int? {
        var place = 2
        while place + 4 <= bytes.count, bytes[place] == 0xFF, bytes[place + 1] != 0xDA {
            if bytes[place + 1] == 0xFF {
                place += 1
                continue
            }
            let end = place + 2 + number(bytes[(place + 2)..<(place + 4)])
            guard end >= place + 4, end <= bytes.count else { return nil }
            let payload = bytes[(place + 4)..<end]
            if bytes[place + 1] == 0xE1, payload.starts(with: Array("Exif\0\0".utf8)) { return inExif(payload) }
            place = end
        }
        return nil
    }

    /// A chunk: its name, its content and the place of the next one; nil at the end.
    private typealias Chunk = (name: String, content: ArraySlice<UInt8>, next: Int)

    private static func chunk(
        _ name: String, of bytes: [UInt8], from start: Int, _ read: (ArraySlice<UInt8>) -> Chunk?
    ) -> ArraySlice<UInt8>? {
        var place = start
        while place < bytes.count, let chunk = read(bytes[place...]) {
            if chunk.name == name { return chunk.content }
            place = chunk.next
        }
        return nil
    }

    private static func inPNG(_ rest: ArraySlice<UInt8>) -> Chunk? {
        guard rest.count >= 12 else { return nil }
        let length = number(rest.prefix(4))
        guard length <= rest.count - 12 else { return nil }
        return (
            String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self), rest.dropFirst(8).prefix(length),
            rest.startIndex + 12 + length
        )
    }

    private static func inRIFF(_ rest: ArraySlice<UInt8>) -> Chunk? {
        guard rest.count >= 8 else { return nil }
        let length = number(rest.dropFirst(4).prefix(4).reversed())
        guard length <= rest.count - 8 else { return nil }
        // Chunks begin at even places.
        return (
            String(decoding: rest.prefix(4), as: UTF8.self), rest.dropFirst(8).prefix(length),
            rest.startIndex + 8 + length + length % 2
        )
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
