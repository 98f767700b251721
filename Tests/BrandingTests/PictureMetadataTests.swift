// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Branding

@Suite("Metadata of logos")
struct PictureMetadataTests {
    private static func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length = payload.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + payload
    }

    private static let start: [UInt8] = [0xFF, 0xD8]
    private static let jfif = segment(0xE0, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
    private static let profile = segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1, 9, 9])
    private static let tables = segment(0xDB, [0] + [UInt8](repeating: 16, count: 64))
    /// A scan with a stuffed 0xFF and a restart marker (ITU-T T.81 §B.1.1.5).
    private static let scan = segment(0xDA, [1, 1, 0, 0, 63, 0]) + [0x12, 0xFF, 0x00, 0x34, 0xFF, 0xD0, 0x56]
    private static let end: [UInt8] = [0xFF, 0xD9]

    /// Exif with a turn and a place to look at (GPS), in either byte order (TIFF 6.0 §2).
    private static func exif(turn: UInt8, isLittle: Bool = false) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let big = (0..<count).map { UInt8(value >> (8 * (count - 1 - $0)) & 255) }
            return isLittle ? big.reversed() : big
        }
        var tiff = Array((isLittle ? "II" : "MM").utf8) + number(42, 2) + number(8, 4) + number(2, 2)
        tiff += number(0x8825, 2) + number(4, 2) + number(1, 4) + number(38, 4)
        tiff += number(0x0112, 2) + number(3, 2) + number(1, 4) + number(Int(turn), 2) + number(0, 2)
        return segment(0xE1, Array("Exif\0\0".utf8) + tiff + number(0, 4) + Array("-33.8568,151.2153".utf8))
    }

    @Test func `a JPEG loses everything but the picture`() {
        let picture = Self.start + Self.jfif + Self.profile + Self.tables + Self.scan + Self.end
        let full =
            Self.start + Self.jfif + Self.exif(turn: 1)
            + Self.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0<x/>".utf8)) + Self.profile
            + Self.segment(0xED, Array("Photoshop 3.0\0".utf8)) + Self.segment(0xFE, Array("by Jane Doe".utf8))
            + Self.tables + [0xFF] + Self.scan + Self.end + Array("PK\u{3}\u{4}".utf8)
        #expect(PictureMetadata.removed(from: full) == picture)
        #expect(PictureMetadata.removed(from: picture) == picture)
    }

    @Test(arguments: [false, true])
    func `a JPEG that is turned stays turned, without the place it was taken at`(isLittle: Bool) {
        let full = Self.start + Self.exif(turn: 6, isLittle: isLittle) + Self.tables + Self.scan + Self.end
        let kept = PictureMetadata.removed(from: full)
        #expect(kept.firstRange(of: Array("151.2153".utf8)) == nil)
        // Once more: what was written is understood, and is all there is.
        #expect(PictureMetadata.removed(from: kept) == kept)
        #expect(kept.firstRange(of: [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6]) != nil)
    }

    @Test func `a progressive JPEG keeps all its scans`() {
        let picture = Self.start + Self.tables + Self.scan + Self.segment(0xC4, [0, 1, 2]) + Self.scan + Self.end
        #expect(PictureMetadata.removed(from: picture) == picture)
    }

    @Test func `a PNG loses its texts, times and Exif`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let folder = root + "/Config/logos"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).sorted().first)
        let picture = PictureMetadata.removed(
            from: [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))))
        func chunk(_ name: String, _ data: String) -> [UInt8] {
            [0, 0, 0, UInt8(data.utf8.count)] + Array((name + data).utf8) + [1, 2, 3, 4]
        }
        // Behind the header: 8 bytes of signature and 25 of IHDR (RFC 2083 §11.2.1).
        var full = Array(picture.prefix(33))
        for (name, data) in [("tEXt", "Author\0Jane Doe"), ("eXIf", "MM"), ("tIME", "1234567"), ("zzZz", "?")] {
            full += chunk(name, data)
        }
        full += picture.dropFirst(33)
        full += Array("trailing".utf8)
        #expect(PictureMetadata.removed(from: full) == picture)
    }

    @Test(
        arguments: [
            [0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3], [0xFF, 0xD8], [0xFF, 0xD8, 0xFF, 0xDB, 0, 0],
            [0xFF, 0xD8, 0x00, 0x00, 0x00], [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3],
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 73, 69, 78, 68, 1, 1, 1, 1],
        ] as [[UInt8]])
    func `a broken rest that is too short for a text stays`(bytes: [UInt8]) {
        #expect(PictureMetadata.removed(from: bytes) == bytes)
    }

    @Test func `a picture that breaks off loses its metadata too, and keeps its pixels`() {
        let scan = Self.tables + Self.scan
        let place = Array("151.2153".utf8)
        // Without an ending; decoders show what is there.
        let cut = PictureMetadata.removed(from: Self.start + Self.exif(turn: 1) + scan)
        #expect(cut == Self.start + scan)
        // Exif whose length leads beyond the end, behind a rule that is broken, and behind bytes that are no marker.
        let exif = Self.exif(turn: 1)
        let cutExif: [UInt8] = Array(exif.dropLast(4))
        let brokenRule: [UInt8] = Self.tables + ([0xFF, 0xE0, 0, 0] as [UInt8])
        let noMarker: [UInt8] = [0x00, 0x01]
        let rest: [UInt8] = exif + scan + Self.end
        let rests: [[UInt8]] = [cutExif, brokenRule + rest, noMarker + rest]
        for broken in rests {
            let picture: [UInt8] = Self.start + broken
            #expect(PictureMetadata.removed(from: picture).firstRange(of: place) == nil)
        }
    }

    @Test func `a PNG that breaks off loses its texts too, and keeps its pixels`() {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
            [0, 0, 0, UInt8(data.count)] + Array(name.utf8) + data + [1, 2, 3, 4]
        }
        let text = chunk("tEXt", Array("Author\u{0}Jane Doe of Sydney".utf8))
        let pixels = chunk("IHDR", [UInt8](repeating: 1, count: 13)) + chunk("IDAT", [UInt8](repeating: 7, count: 40))
        #expect(PictureMetadata.removed(from: signature + text + pixels) == signature + pixels)
        #expect(
            PictureMetadata.removed(from: signature + text + pixels.dropLast(20)) == signature + pixels.dropLast(20))
        let open = PictureMetadata.removed(from: signature + pixels + text.dropLast(6))
        #expect(open == signature + pixels)
    }
}
