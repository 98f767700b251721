// SPDX-License-Identifier: Apache-2.0

import Branding
import CGD
import LogoScaling
import Testing

@Suite("Logo scaling")
struct LogoScalingTests {
    @Test(arguments: LogoPicture.Format.allCases) func `a picture becomes a square of the size asked for`(
        format: LogoPicture.Format
    ) throws {
        let square = try LogoScaling.square(
            picture(width: 30, height: 10), size: 64, format: format, maxPixels: 1000)
        let magic: [LogoPicture.Format: [UInt8]] = [.png: [0x89, 0x50], .jpeg: [0xFF, 0xD8], .bmp: [0x42, 0x4D]]
        #expect(square.starts(with: try #require(magic[format])))
        guard format != .bmp else { return }
        let made = try LogoPicture(square)
        #expect(made.format == format && made.width == 64 && made.height == 64)
    }

    @Test func `what is left free is transparent in PNG and white in JPEG`() throws {
        let wide = picture(width: 30, height: 10)
        var png = try LogoScaling.square(wide, size: 64, format: .png, maxPixels: 1000)
        let clear = try #require(gdImageCreateFromPngPtr(CInt(png.count), &png))
        defer { gdImageDestroy(clear) }
        #expect(gdImageGetTrueColorPixel(clear, 32, 2) >> 24 == 127)
        #expect(gdImageGetTrueColorPixel(clear, 32, 32) == 0xFF0000)
        var jpeg = try LogoScaling.square(wide, size: 64, format: .jpeg, maxPixels: 1000)
        let white = try #require(gdImageCreateFromJpegPtr(CInt(jpeg.count), &jpeg))
        defer { gdImageDestroy(white) }
        #expect(gdImageGetTrueColorPixel(white, 32, 2) & 0xF0F0F0 == 0xF0F0F0)
    }

    @Test func `too many pixels and no picture at all are refused before decoding`() {
        let large = picture(width: 40, height: 30)
        #expect(throws: LogoScalingError.refused) {
            try LogoScaling.square(large, size: 64, format: .png, maxPixels: 1199)
        }
        #expect(throws: LogoScalingError.refused) {
            try LogoScaling.square(Array("<svg/>".utf8), size: 64, format: .png, maxPixels: 1000)
        }
        #expect(throws: LogoScalingError.badSize) {
            try LogoScaling.square(large, size: 5000, format: .png, maxPixels: 9000)
        }
    }

    @Test func `a picture whose pixels are damaged is undecodable`() {
        var damaged = picture(width: 30, height: 10)
        let data = damaged.indices.first { damaged[$0...].starts(with: Array("IDAT".utf8)) } ?? 0
        for position in data + 4..<data + 12 { damaged[position] ^= 0xA5 }
        #expect(throws: LogoScalingError.undecodable) {
            try LogoScaling.square(damaged, size: 64, format: .png, maxPixels: 1000)
        }
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
