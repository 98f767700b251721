// SPDX-License-Identifier: Apache-2.0

import Branding
import CGD
import TestFixtures
import Testing

@testable import herald_scale_logo

/// A decoded result.
private struct Seen: ~Copyable {
    let image: gdImagePtr

    init(_ bytes: [UInt8]) throws {
        var copy = bytes
        let image =
            try LogoPicture(bytes).format == .png
            ? gdImageCreateFromPngPtr(CInt(copy.count), &copy) : gdImageCreateFromJpegPtr(CInt(copy.count), &copy)
        self.image = try #require(image)
    }

    deinit { gdImageDestroy(image) }

    var size: [CInt] { [image.pointee.sx, image.pointee.sy] }

    /// The colour nearest to a pixel; `clear` for a transparent one.
    func colour(_ x: CInt, _ y: CInt) -> String {
        let pixel = gdImageGetTrueColorPixel(image, x, y)
        if pixel >> 24 > 100 { return "clear" }
        let parts = [pixel >> 16 & 0xFF, pixel >> 8 & 0xFF, pixel & 0xFF].map { $0 > 127 }
        return switch parts {
        case [true, false, false]: "red"
        case [false, true, false]: "green"
        case [false, false, true]: "blue"
        case [true, true, true]: "white"
        default: "another: \(String(pixel, radix: 16))"
        }
    }

    /// The colours of the quarters: above, then below.
    var quarters: [String] {
        let (x, y) = (image.pointee.sx / 4, image.pointee.sy / 4)
        return [colour(x, y), colour(3 * x, y), colour(x, 3 * y), colour(3 * x, 3 * y)]
    }
}

@Suite("Pictures as brands have them")
struct PictureFormatTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        /// The format of the kept picture.
        let kept: LogoPicture.Format
        let quarters: [String]
        var isOnItsSide = false
    }

    private static let upright = ["red", "green", "blue", "white"]
    private static let clear = ["red", "green", "blue", "clear"]
    /// By 90 degrees with the clock, and against it.
    private static let right = ["blue", "red", "white", "green"]
    private static let left = ["green", "white", "red", "blue"]

    static let samples: [Sample] = [
        Sample(testDescription: "PNG", bytes: PictureSample.png, kept: .png, quarters: clear),
        Sample(testDescription: "PNG of 16 bits", bytes: PictureSample.deepPNG, kept: .png, quarters: clear),
        Sample(testDescription: "JPEG", bytes: PictureSample.jpeg, kept: .jpeg, quarters: upright),
        Sample(
            testDescription: "turned JPEG", bytes: PictureSample.turnedJPEG, kept: .jpeg, quarters: right,
            isOnItsSide: true),
        Sample(testDescription: "CMYK JPEG", bytes: PictureSample.cmykJPEG, kept: .jpeg, quarters: upright),
        Sample(testDescription: "WebP", bytes: PictureSample.webp, kept: .png, quarters: clear),
        Sample(testDescription: "lossy WebP", bytes: PictureSample.lossyWebP, kept: .jpeg, quarters: upright),
        Sample(
            testDescription: "turned WebP", bytes: PictureSample.turnedWebP, kept: .jpeg, quarters: right,
            isOnItsSide: true),
        Sample(testDescription: "animated WebP", bytes: PictureSample.animatedWebP, kept: .png, quarters: clear),
        Sample(testDescription: "GIF", bytes: PictureSample.gif, kept: .png, quarters: clear),
        Sample(testDescription: "animated GIF", bytes: PictureSample.animatedGIF, kept: .png, quarters: upright),
        Sample(testDescription: "AVIF", bytes: PictureSample.avif, kept: .png, quarters: clear),
        Sample(
            testDescription: "turned AVIF of 10 bits", bytes: PictureSample.turnedAVIF, kept: .jpeg, quarters: left,
            isOnItsSide: true),
        Sample(testDescription: "HEIC", bytes: PictureSample.heic, kept: .png, quarters: clear),
        Sample(testDescription: "opaque HEIC", bytes: PictureSample.opaqueHEIC, kept: .jpeg, quarters: upright),
    ]

    @Test(arguments: samples) func `a picture is kept upright, in its own size, with its transparency and nothing else`(
        sample: Sample
    ) throws {
        let kept = try LogoScaling.kept(sample.bytes, side: 1024, maxPixels: 4096, maxBytes: 1 << 20)
        #expect(try LogoPicture(kept).format == sample.kept)
        let seen = try Seen(kept)
        #expect(seen.size == (sample.isOnItsSide ? [32, 48] : [48, 32]))
        #expect(seen.quarters == sample.quarters)
        for text in ["Exif", "Jan", "eXIf", "ICC"] { #expect(kept.firstRange(of: Array(text.utf8)) == nil, "\(text)") }
    }

    @Test(arguments: samples, PhoneFamily.allCases) func `every phone gets its form of every picture`(
        sample: Sample, family: PhoneFamily
    ) throws {
        let made = try LogoScaling.picture(sample.bytes, as: family.form, maxPixels: 4096)
        guard family.form.encoding != .greyBMP else {
            #expect(made.starts(with: Array("BM".utf8)))
            return
        }
        let picture = try LogoPicture(made)
        #expect(picture.width == family.form.width && picture.height == family.form.height)
    }

    @Test(arguments: samples) func `a small copy keeps the proportions`(sample: Sample) throws {
        let seen = try Seen(try LogoScaling.kept(sample.bytes, side: 24, maxPixels: 4096, maxBytes: 1 << 20))
        #expect(seen.size == (sample.isOnItsSide ? [16, 24] : [24, 16]))
        #expect(seen.quarters == sample.quarters)
    }

    @Test func `a result that would be too long has smaller sides`() throws {
        let whole = try LogoScaling.kept(PictureSample.deepPNG, side: 1024, maxPixels: 4096, maxBytes: 1 << 20)
        let short = try LogoScaling.kept(PictureSample.deepPNG, side: 48, maxPixels: 4096, maxBytes: whole.count - 1)
        #expect(short.count < whole.count)
        #expect(try LogoPicture(short).width <= 24)
        #expect(throws: LogoScalingError.tooLarge) {
            try LogoScaling.kept(PictureSample.png, side: 64, maxPixels: 4096, maxBytes: 10)
        }
    }

    @Test(arguments: samples) func `a picture cut short is refused at every length, without a crash`(
        sample: Sample
    ) {
        // Half of an animation lacks a part of the first frame.
        for count in stride(from: 1, to: sample.bytes.count / 2, by: 7) {
            #expect(throws: LogoScalingError.self, "\(count) bytes") {
                try LogoScaling.kept(Array(sample.bytes.prefix(count)), side: 64, maxPixels: 4096, maxBytes: 1 << 20)
            }
        }
    }

    @Test(arguments: [PictureSample.flatWebP, PictureSample.flatAVIF, PictureSample.flatHEIC])
    func `more pixels than allowed are refused before and after decoding`(bytes: [UInt8]) throws {
        #expect(throws: LogoScalingError.tooLarge) {
            try LogoScaling.kept(bytes, side: 64, maxPixels: 2048 * 2048 - 1, maxBytes: 1 << 20)
        }
        #expect(try LogoScaling.kept(bytes, side: 64, maxPixels: 2048 * 2048, maxBytes: 1 << 20).count < 4096)
        guard LogoPicture.Format(bytes) == .heic else { return }
        // libheif returns the pixels of the stream, whatever the container declares.
        #expect(throws: LogoScalingError.tooLarge) {
            try LogoScaling.kept(
                PictureSample.declaring(48, 32, bytes), side: 64, maxPixels: 10_000, maxBytes: 1 << 20)
        }
    }

    @Test(arguments: [PictureSample.avif, PictureSample.heic])
    func `a huge declared size is refused without its memory`(bytes: [UInt8]) {
        for sides in [(65_536, 65_536), (0xFFFF_FFFF, 0xFFFF_FFFF), (0xFFFF_FFFF, 1)] {
            #expect(throws: LogoScalingError.tooLarge) {
                try LogoScaling.kept(
                    PictureSample.declaring(sides.0, sides.1, bytes), side: 64, maxPixels: 1 << 24, maxBytes: 1 << 20)
            }
        }
    }

    @Test func `the eight orientations of Exif`() throws {
        // Where the red, green, blue and white quarters are after the turn.
        let expected = [
            Self.upright, ["green", "red", "white", "blue"], ["white", "blue", "green", "red"],
            ["blue", "white", "red", "green"], ["red", "blue", "green", "white"], Self.right,
            ["white", "green", "blue", "red"], Self.left,
        ]
        let place =
            try #require(PictureSample.turnedJPEG.firstRange(of: [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6])).upperBound - 1
        for (turn, quarters) in zip(1..., expected) {
            var bytes = PictureSample.turnedJPEG
            bytes[place] = UInt8(turn)
            let seen = try Seen(try LogoScaling.kept(bytes, side: 64, maxPixels: 4096, maxBytes: 1 << 20))
            #expect(seen.quarters == quarters, "orientation \(turn)")
        }
    }

    @Test(arguments: [
        "<svg xmlns='http://www.w3.org/2000/svg'/>", "BM", "II*\0", "%PDF-1.7", "<html>", "",
        "\0\0\0\u{18}ftypmp42\0\0\0\0mp42isom",
    ]) func `another format is refused by its name`(text: String) {
        #expect(throws: LogoScalingError.refused) {
            try LogoScaling.kept(Array(text.utf8), side: 64, maxPixels: 4096, maxBytes: 1 << 20)
        }
    }
}
