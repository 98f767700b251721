// SPDX-License-Identifier: Apache-2.0

package import Branding
import CGD

/// Scales a picture to a square in a size and format for phones, with libgd.
///
/// Decoding foreign bytes in C is the one dangerous step. It runs in a process of its own, see `ConfinedScaling`.
package enum LogoScaling {
    /// Decodes a picture, fits it into a square and encodes it again.
    ///
    /// No other byte of the original remains.
    ///
    /// The rest of the square is transparent in PNG and white in other formats. Small pictures are enlarged: RFC 9796
    /// requires the size in the file's name.
    ///
    /// - Parameters:
    ///   - bytes: a PNG or JPEG.
    ///   - size: width and height of the result in pixels, 16 to 1024.
    ///   - maxPixels: larger pictures are refused before they are decoded.
    package static func square(
        _ bytes: [UInt8], size: Int, format: LogoPicture.Format, maxPixels: Int
    ) throws(LogoScalingError) -> [UInt8] {
        guard (16...1024).contains(size) else { throw .badSize }
        guard let picture = try? LogoPicture(bytes), picture.pixels <= maxPixels else { throw .refused }
        herald_gd_silence()
        guard let source = decode(bytes, picture.format) else { throw .undecodable }
        defer { gdImageDestroy(source) }
        // The decoder's size counts, not the header's.
        let (width, height) = (Int(source.pointee.sx), Int(source.pointee.sy))
        guard width > 0, height > 0, width * height <= maxPixels else { throw .refused }
        guard let square = gdImageCreateTrueColor(CInt(size), CInt(size)) else { throw .outOfMemory }
        defer { gdImageDestroy(square) }
        paint(source, (width, height), onto: square, size: size, isTransparent: format == .png)
        return try encode(square, format)
    }

    private static func decode(_ bytes: [UInt8], _ format: LogoPicture.Format) -> gdImagePtr? {
        var bytes = bytes
        return bytes.withUnsafeMutableBytes { buffer in
            let count = CInt(buffer.count)
            return format == .png
                ? gdImageCreateFromPngPtr(count, buffer.baseAddress)
                : gdImageCreateFromJpegPtr(count, buffer.baseAddress)
        }
    }

    private static func paint(
        _ source: gdImagePtr, _ original: (width: Int, height: Int), onto square: gdImagePtr, size: Int,
        isTransparent: Bool
    ) {
        let longest = max(original.width, original.height)
        let width = max(1, original.width * size / longest)
        let height = max(1, original.height * size / longest)
        gdImageAlphaBlending(square, 0)
        let white: CInt = 0xFF_FFFF
        let clear: CInt = 127 << 24 | white
        gdImageFilledRectangle(square, 0, 0, CInt(size), CInt(size), isTransparent ? clear : white)
        gdImageAlphaBlending(square, isTransparent ? 0 : 1)
        gdImageSaveAlpha(square, isTransparent ? 1 : 0)
        gdImageCopyResampled(
            square, source, CInt((size - width) / 2), CInt((size - height) / 2), 0, 0, CInt(width), CInt(height),
            CInt(original.width), CInt(original.height))
    }

    private static func encode(
        _ image: gdImagePtr, _ format: LogoPicture.Format
    ) throws(LogoScalingError) -> [UInt8] {
        var count: CInt = 0
        let encoded =
            switch format {
            case .png: gdImagePngPtrEx(image, &count, 9)
            case .jpeg: gdImageJpegPtr(image, &count, 90)
            case .bmp: gdImageBmpPtr(image, &count, 0)
            }
        guard let encoded, count > 0 else { throw .outOfMemory }
        defer { gdFree(encoded) }
        return [UInt8](UnsafeRawBufferPointer(start: encoded, count: Int(count)))
    }
}

/// Why a picture could not be scaled.
///
/// The raw value is the exit code of the process.
package enum LogoScalingError: Int32, Error, Hashable, Sendable {
    case badSize = 64
    /// No PNG or JPEG, or too many pixels.
    case refused = 65
    case undecodable = 66
    case outOfMemory = 67
    /// The process could not be confined, and so decoded nothing.
    case notConfined = 68
}
