// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@Suite("Logo images")
struct LogoPictureTests {
    private static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 1, 0]
        + [0, 0, 0, 64] + [8, 6, 0, 0, 0] + [1, 2, 3, 4] + [0, 0, 0, 0] + Array("IEND".utf8) + [1, 2, 3, 4]
    private static let jpeg: [UInt8] =
        [0xFF, 0xD8] + [0xFF, 0xE0, 0, 4, 1, 2] + [0xFF, 0xFF, 0xC2, 0, 11, 8, 0, 64, 1, 0, 1, 0, 0, 0] + [0xFF, 0xD9]

    @Test func `the size is read from the header`() throws {
        let png = try LogoPicture(Self.png)
        #expect(png.format == .png && png.width == 256 && png.height == 64 && png.pixels == 16_384)
        let jpeg = try LogoPicture(Self.jpeg)
        #expect(jpeg.format == .jpeg && jpeg.width == 256 && jpeg.height == 64)
    }

    @Test func `a truncated image is rejected`() {
        for count in 0..<Self.png.count {
            #expect(throws: LogoPictureError.self) { try LogoPicture(Array(Self.png.prefix(count))) }
        }
        for count in 0..<Self.jpeg.count {
            #expect(throws: LogoPictureError.self) { try LogoPicture(Array(Self.jpeg.prefix(count))) }
        }
    }

    @Test(arguments: ["<svg xmlns='http://www.w3.org/2000/svg'/>", "GIF88a", "BM", "<html>", "RIFF0000WAVE", ""])
    func `other image formats are rejected`(text: String) {
        #expect(throws: LogoPictureError.otherFormat) { try LogoPicture(Array(text.utf8)) }
    }

    @Test func `an image without a size is rejected`() {
        var png = Self.png
        png.replaceSubrange(16..<20, with: [0, 0, 0, 0])
        #expect(throws: LogoPictureError.noSize) { try LogoPicture(png) }
        var second = Self.png
        second.replaceSubrange(12..<16, with: Array("IDAT".utf8))
        #expect(throws: LogoPictureError.noSize) { try LogoPicture(second) }
    }

    @Test func `random bytes are rejected without a crash`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            var bytes = Bool.random(using: &generator) ? Self.png : Self.jpeg
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 3..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            if let picture = try? LogoPicture(bytes) { #expect(picture.width > 0 && picture.height > 0) }
        }
    }
}
