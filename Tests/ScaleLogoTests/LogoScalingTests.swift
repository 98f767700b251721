// SPDX-License-Identifier: Apache-2.0

import Branding
import CGD
import Testing

@testable import herald_scale_logo

@Suite("Logo scaling")
struct LogoScalingTests {
    private static func square(_ encoding: LogoForm.Encoding, _ size: Int = 64) -> LogoForm {
        LogoForm(width: size, height: size, encoding)
    }

    @Test(arguments: [LogoForm.Encoding.png, .opaquePNG, .jpeg]) func `a picture gets the size asked for`(
        encoding: LogoForm.Encoding
    ) throws {
        let form = LogoForm(width: 40, height: 50, encoding)
        let made = try LogoPicture(try LogoScaling.picture(picture(width: 30, height: 10), as: form, maxPixels: 1000))
        #expect(made.format == (encoding == .jpeg ? .jpeg : .png) && made.width == 40 && made.height == 50)
    }

    @Test func `what is left free is transparent in PNG and white in JPEG and opaque PNG`() throws {
        let wide = picture(width: 30, height: 10)
        var png = try LogoScaling.picture(wide, as: Self.square(.png), maxPixels: 1000)
        let clear = try #require(gdImageCreateFromPngPtr(CInt(png.count), &png))
        defer { gdImageDestroy(clear) }
        #expect(gdImageGetTrueColorPixel(clear, 32, 2) >> 24 == 127)
        #expect(gdImageGetTrueColorPixel(clear, 32, 32) == 0xFF0000)
        var jpeg = try LogoScaling.picture(wide, as: Self.square(.jpeg), maxPixels: 1000)
        let white = try #require(gdImageCreateFromJpegPtr(CInt(jpeg.count), &jpeg))
        defer { gdImageDestroy(white) }
        #expect(gdImageGetTrueColorPixel(white, 32, 2) & 0xF0F0F0 == 0xF0F0F0)
        var opaque = try LogoScaling.picture(wide, as: Self.square(.opaquePNG), maxPixels: 1000)
        let full = try #require(gdImageCreateFromPngPtr(CInt(opaque.count), &opaque))
        defer { gdImageDestroy(full) }
        #expect(gdImageGetTrueColorPixel(full, 32, 2) == 0xFFFFFF)
    }

    @Test func `a high rectangle keeps the picture's proportions`() throws {
        var png = try LogoScaling.picture(
            picture(width: 30, height: 10), as: PhoneFamily.mitel6739.form, maxPixels: 1000)
        let made = try #require(gdImageCreateFromPngPtr(CInt(png.count), &png))
        defer { gdImageDestroy(made) }
        // 150 by 50 pixels in the middle of 150 by 200.
        for (y, colour) in [(70, 0xFFFFFF), (80, 0xFF0000), (120, 0xFF0000), (130, 0xFFFFFF)] {
            #expect(gdImageGetTrueColorPixel(made, 75, CInt(y)) == CInt(colour), "row \(y)")
        }
    }

    @Test func `JPEG is baseline, which every phone decodes`() throws {
        let jpeg = try LogoScaling.picture(
            picture(width: 30, height: 10), as: PhoneFamily.snom.form, maxPixels: 1000)
        #expect(Self.markers(jpeg).contains(0xC0), "SOF0, ITU-T T.81 table B.1")
        #expect(!Self.markers(jpeg).contains(0xC2), "SOF2 is progressive")
    }

    @Test func `PNG for the Mitel 6739i has 24 bits, without transparency`() throws {
        let png = try LogoScaling.picture(
            picture(width: 30, height: 10), as: PhoneFamily.mitel6739.form, maxPixels: 1000)
        // IHDR: depth and colour type behind width and height.
        #expect(Array(png[24..<26]) == [8, 2])
    }

    @Test(arguments: [LogoForm.Encoding.bmp, .greyBMP]) func `BMP has 8 bits, a palette and no compression`(
        encoding: LogoForm.Encoding
    ) throws {
        let bmp = try LogoScaling.picture(
            picture(width: 30, height: 10), as: Self.square(encoding), maxPixels: 1000)
        #expect(bmp.starts(with: Array("BM".utf8)))
        func number(_ at: Int, _ count: Int) -> Int { bmp[at..<at + count].reversed().reduce(0) { $0 << 8 | Int($1) } }
        #expect(number(18, 4) == 64 && number(22, 4) == 64, "width and height")
        #expect(number(28, 2) == 8, "bits of a pixel")
        #expect(number(30, 4) == 0, "BI_RGB")
        #expect(bmp.count >= number(10, 4) + 64 * 64)
        #expect(bmp.count <= 54 + 1024 + 64 * 64)
    }

    @Test func `the BMP of a snom 370 has greys only`() throws {
        let bmp = try LogoScaling.picture(
            picture(width: 30, height: 10), as: PhoneFamily.snom370.form, maxPixels: 1000)
        for entry in 0..<256 {
            let colour = bmp[54 + entry * 4..<54 + entry * 4 + 3]
            #expect(Set(colour).count == 1, "palette entry \(entry)")
        }
    }

    @Test func `too many pixels, a size out of range and no picture are refused before decoding`() {
        let large = picture(width: 40, height: 30)
        #expect(throws: LogoScalingError.tooLarge) {
            try LogoScaling.picture(large, as: Self.square(.png), maxPixels: 1199)
        }
        #expect(throws: LogoScalingError.refused) {
            try LogoScaling.picture(Array("<svg/>".utf8), as: Self.square(.png), maxPixels: 1000)
        }
        for form in [Self.square(.png, 5000), LogoForm(width: 64, height: 8, .png)] {
            #expect(throws: LogoScalingError.badSize) { try LogoScaling.picture(large, as: form, maxPixels: 9000) }
        }
    }

    @Test func `a picture whose pixels are damaged is undecodable`() {
        var damaged = picture(width: 30, height: 10)
        let data = damaged.indices.first { damaged[$0...].starts(with: Array("IDAT".utf8)) } ?? 0
        for position in data + 4..<data + 12 { damaged[position] ^= 0xA5 }
        #expect(throws: LogoScalingError.undecodable) {
            try LogoScaling.picture(damaged, as: Self.square(.png), maxPixels: 1000)
        }
    }

    /// The markers of the segments before the pixels.
    private static func markers(_ jpeg: [UInt8]) -> Set<UInt8> {
        var markers: Set<UInt8> = []
        var position = 2
        while position + 4 <= jpeg.count, jpeg[position] == 0xFF, jpeg[position + 1] != 0xDA {
            markers.insert(jpeg[position + 1])
            position += 2 + (Int(jpeg[position + 2]) << 8 | Int(jpeg[position + 3]))
        }
        return markers
    }

    /// A red PNG.
    private func picture(width: Int, height: Int) -> [UInt8] {
        guard let image = gdImageCreateTrueColor(CInt(width), CInt(height)) else { return [] }
        defer { gdImageDestroy(image) }
        gdImageFilledRectangle(image, 0, 0, CInt(width), CInt(height), 0xFF0000)
        var count: CInt = 0
        guard let bytes = gdImagePngPtr(image, &count) else { return [] }
        defer { gdFree(bytes) }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }
}
