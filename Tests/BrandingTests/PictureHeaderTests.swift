// SPDX-License-Identifier: Apache-2.0

import Branding
import TestFixtures
import Testing

@Suite("Headers of pictures")
struct PictureHeaderTests {
    private static let pictures: [([UInt8], LogoPicture.Format)] = [
        (PictureSample.png, .png), (PictureSample.deepPNG, .png), (PictureSample.jpeg, .jpeg),
        (PictureSample.cmykJPEG, .jpeg), (PictureSample.webp, .webp), (PictureSample.lossyWebP, .webp),
        (PictureSample.animatedWebP, .webp), (PictureSample.turnedWebP, .webp), (PictureSample.gif, .gif),
        (PictureSample.animatedGIF, .gif), (PictureSample.avif, .avif), (PictureSample.turnedAVIF, .avif),
        (PictureSample.heic, .heic), (PictureSample.opaqueHEIC, .heic),
    ]

    @Test(arguments: pictures) func `format and size are read without decoding`(
        bytes: [UInt8], format: LogoPicture.Format
    ) throws {
        let picture = try LogoPicture(bytes)
        // The one tile of a HEIC reaches beyond the picture.
        let expected = format == .heic ? [64, 64] : [48, 32]
        #expect(picture.format == format && [picture.width, picture.height] == expected)
    }

    @Test(arguments: pictures) func `a truncated picture is rejected`(bytes: [UInt8], format: LogoPicture.Format) {
        // An animation is whole with its first frame.
        let end = format == .gif ? bytes.count / 3 : bytes.count
        for count in 0..<end {
            #expect(throws: LogoPictureError.self, "\(count) bytes") { try LogoPicture(Array(bytes.prefix(count))) }
        }
    }

    @Test func `damaged headers are rejected or read, without a crash`() {
        var generator = SystemRandomNumberGenerator()
        for (bytes, _) in Self.pictures {
            for _ in 0..<2000 {
                var damaged = bytes
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    damaged[Int.random(in: 0..<min(bytes.count, 400), using: &generator)] = .random(in: 0...255)
                }
                if let picture = try? LogoPicture(damaged) { #expect(picture.width > 0 && picture.height > 0) }
                if let turn = PictureOrientation.of(damaged) { #expect((2...8).contains(turn)) }
            }
        }
    }

    @Test func `the orientation is that of Exif, in JPEG and WebP`() {
        #expect(PictureOrientation.of(PictureSample.turnedJPEG) == 6)
        #expect(PictureOrientation.of(PictureSample.turnedWebP) == 6)
        #expect(PictureOrientation.of(PictureSample.jpeg) == nil)
        // The container of an AVIF has the turn.
        #expect(PictureOrientation.of(PictureSample.turnedAVIF) == nil)
    }

    @Test(arguments: [
        ("<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", "svg"), ("BM6", "bmp"), ("II*\0", "tiff"),
        ("%PDF-1.7", "pdf"), ("<!DOCTYPE html>", "html"), ("\0\0\0\u{18}ftypmp42", "mp4"),
        ("\0\0\0\u{14}ftypqt  ", "mov"),
        ("", "empty"), ("hello", "unknown"),
    ]) func `another file is named by its bytes`(text: String, name: String) {
        #expect(UnsupportedPicture.name(of: Array(text.utf8)) == name)
        #expect(throws: LogoPictureError.otherFormat) { try LogoPicture(Array(text.utf8)) }
    }
}
