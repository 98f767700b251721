// SPDX-License-Identifier: Apache-2.0

/// Removes from a PNG or JPEG everything that decoders do not need: places, cameras, names, comments, and trailing
/// bytes.
///
/// Logos are public. The pixels stay the same, byte for byte. From a place that breaks the format's rules on, nothing is
/// kept: decoders stop there, and the parts behind it cannot be separated from metadata.
public enum PictureMetadata {
    /// The picture without metadata.
    public static func removed(from picture: [UInt8]) -> [UInt8] {
        let kept = picture.starts(with: [0xFF, 0xD8]) ? jpeg(picture) : png(picture)
        // A rest that is shorter than any metadata stays.
        return kept.isBroken && picture.count - kept.end < shortest ? kept.bytes + picture[kept.end...] : kept.bytes
    }

    /// The parts of a picture without metadata.
    private struct Kept {
        var bytes: [UInt8]
        /// The place behind the last part that could be read.
        var end: Int
        /// True without a whole ending.
        var isBroken = true
    }

    /// Bytes of the shortest block that could hold a text: a marker, a length and a signature.
    private static let shortest = 16

    // MARK: JPEG (ITU-T T.81 annex B, JFIF, Exif 2.3)

    private static func jpeg(_ bytes: [UInt8]) -> Kept {
        var kept = Array(bytes.prefix(2))
        var place = 2
        while place + 1 < bytes.count {
            guard bytes[place] == 0xFF else { break }
            let marker = bytes[place + 1]
            if marker == 0xFF {  // A fill byte.
                place += 1
                continue
            }
            if marker == 0xD9 { return Kept(bytes: kept + [0xFF, 0xD9], end: place + 2, isBroken: false) }
            guard place + 4 <= bytes.count, case let length = number(bytes[(place + 2)..<(place + 4)]), length >= 2,
                place + 2 + length <= bytes.count
            else { break }
            let segment = bytes[place..<(place + 2 + length)]
            place += segment.count
            if let wanted = wanted(segment, marker) { kept += wanted }
            guard marker == 0xDA else { continue }
            let start = place
            while place + 1 < bytes.count, bytes[place] != 0xFF || isWithinScan(bytes[place + 1]) { place += 1 }
            // A file that breaks off in its scan is shown as far as it goes.
            if place + 1 >= bytes.count { place = bytes.count }
            kept += bytes[start..<place]
        }
        return Kept(bytes: kept, end: place)
    }

    /// True after 0xFF for a stuffed byte and a restart.
    private static func isWithinScan(_ byte: UInt8) -> Bool { byte == 0 || (0xD0...0xD7).contains(byte) }

    /// The kept part of a segment; nil for none.
    private static func wanted(_ segment: ArraySlice<UInt8>, _ marker: UInt8) -> [UInt8]? {
        let payload = segment.dropFirst(4)
        return switch marker {
        case 0xE0: payload.starts(with: Array("JFIF\0".utf8)) ? Array(segment) : nil
        case 0xE1: orientation(payload).map(exif)
        // A decoder needs the colour profile and the coding of colours.
        case 0xE2: payload.starts(with: Array("ICC_PROFILE\0".utf8)) ? Array(segment) : nil
        case 0xEE: payload.starts(with: Array("Adobe".utf8)) ? Array(segment) : nil
        case 0xE3...0xEF, 0xFE: nil
        default: Array(segment)
        }
    }

    /// The orientation; nil for an upright picture.
    private static func orientation(_ payload: ArraySlice<UInt8>) -> UInt8? {
        guard payload.starts(with: Array("Exif\0\0".utf8)) else { return nil }
        return PictureOrientation.inExif(payload.dropFirst(6)).map { UInt8($0) }
    }

    /// An Exif segment with the orientation only.
    private static func exif(orientation: UInt8) -> [UInt8] {
        let head: [UInt8] = [0xFF, 0xE1, 0, 34] + Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8]
        return head + [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
    }

    // MARK: PNG (RFC 2083 §3)

    /// Ancillary chunks that change the look of pixels.
    private static let shown: Set = [
        "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "bKGD", "pHYs", "cICP", "acTL", "fcTL", "fdAT",
    ]

    private static func png(_ bytes: [UInt8]) -> Kept {
        var kept = Array(bytes.prefix(8))
        var place = 8
        while place + 12 <= bytes.count {
            let length = number(bytes[place..<(place + 4)])
            let name = String(decoding: bytes[(place + 4)..<(place + 8)], as: UTF8.self)
            guard place + 12 + length <= bytes.count else {
                // A file that breaks off in its pixels is shown as far as it goes.
                if name == "IDAT" { return Kept(bytes: kept + bytes[place...], end: bytes.count) }
                break
            }
            let isCritical = bytes[place + 4] & 0x20 == 0
            if isCritical || shown.contains(name) { kept += bytes[place..<(place + 12 + length)] }
            place += 12 + length
            if name == "IEND" { return Kept(bytes: kept, end: place, isBroken: false) }
        }
        return Kept(bytes: kept, end: place)
    }

    /// An unsigned number, its highest byte first.
    private static func number(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
