// SPDX-License-Identifier: Apache-2.0

import Branding
import CGD

/// Scales a picture to a size and encoding for phones, with libgd.
///
/// Decoding foreign bytes in C is the one dangerous step. It runs in a process of its own, see `ConfinedScaling`.
enum LogoScaling {
    /// Decodes a picture, fits it into a rectangle and encodes it again.
    ///
    /// No other byte of the original remains. The rest of the rectangle is transparent in PNG and white in other
    /// encodings. Small pictures are enlarged: RFC 9796 requires the size in the file's name.
    ///
    /// - Parameters:
    ///   - bytes: a PNG or JPEG.
    ///   - form: size and encoding of the result.
    ///   - maxPixels: larger pictures are refused before they are decoded.
    static func picture(
        _ bytes: [UInt8], as form: LogoForm, maxPixels: Int
    ) throws(LogoScalingError) -> [UInt8] {
        guard (16...1024).contains(form.width), (16...1024).contains(form.height) else { throw .badSize }
        guard let picture = try? LogoPicture(bytes), picture.pixels <= maxPixels else { throw .refused }
        herald_gd_silence()
        guard let source = decode(bytes, picture.format) else { throw .undecodable }
        defer { gdImageDestroy(source) }
        // The decoder's size counts, not the header's.
        let (width, height) = (Int(source.pointee.sx), Int(source.pointee.sy))
        guard width > 0, height > 0, width * height <= maxPixels else { throw .refused }
        guard let result = gdImageCreateTrueColor(CInt(form.width), CInt(form.height)) else { throw .outOfMemory }
        defer { gdImageDestroy(result) }
        paint(source, (width, height), onto: result, form)
        return try encode(result, form)
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
        _ source: gdImagePtr, _ original: (width: Int, height: Int), onto result: gdImagePtr, _ form: LogoForm
    ) {
        let isTransparent = form.encoding == .png
        // The side that fills the rectangle first sets the scale.
        let isWide = original.width * form.height >= original.height * form.width
        let width = isWide ? form.width : max(1, original.width * form.height / original.height)
        let height = isWide ? max(1, original.height * form.width / original.width) : form.height
        gdImageAlphaBlending(result, 0)
        let white: CInt = 0xFF_FFFF
        let clear: CInt = 127 << 24 | white
        gdImageFilledRectangle(
            result, 0, 0, CInt(form.width), CInt(form.height), isTransparent ? clear : white)
        gdImageAlphaBlending(result, isTransparent ? 0 : 1)
        gdImageSaveAlpha(result, isTransparent ? 1 : 0)
        gdImageCopyResampled(
            result, source, CInt((form.width - width) / 2), CInt((form.height - height) / 2), 0, 0, CInt(width),
            CInt(height), CInt(original.width), CInt(original.height))
    }

    private static func encode(_ image: gdImagePtr, _ form: LogoForm) throws(LogoScalingError) -> [UInt8] {
        var count: CInt = 0
        let encoded: UnsafeMutableRawPointer?
        switch form.encoding {
        case .png, .opaquePNG: encoded = gdImagePngPtrEx(image, &count, 9)
        case .jpeg:
            gdImageInterlace(image, 0)
            encoded = gdImageJpegPtr(image, &count, 90)
        case .bmp:
            // libgd writes 8 bits for a picture with a palette.
            guard gdImageTrueColorToPalette(image, 1, 256) != 0 else { throw .outOfMemory }
            encoded = gdImageBmpPtr(image, &count, 0)
        case .greyBMP:
            guard let grey = greys(of: image, form) else { throw .outOfMemory }
            defer { gdImageDestroy(grey) }
            encoded = gdImageBmpPtr(grey, &count, 0)
        }
        guard let encoded, count > 0 else { throw .outOfMemory }
        defer { gdFree(encoded) }
        return [UInt8](UnsafeRawBufferPointer(start: encoded, count: Int(count)))
    }

    /// Copies a picture into a palette of 256 greys, by the luminance of ITU-R BT.601.
    private static func greys(of image: gdImagePtr, _ form: LogoForm) -> gdImagePtr? {
        guard let grey = gdImageCreate(CInt(form.width), CInt(form.height)) else { return nil }
        for level in CInt(0)...255 { gdImageColorAllocate(grey, level, level, level) }
        for y in CInt(0)..<CInt(form.height) {
            for x in CInt(0)..<CInt(form.width) {
                let colour = gdImageGetTrueColorPixel(image, x, y)
                let (red, green, blue) = (colour >> 16 & 0xFF, colour >> 8 & 0xFF, colour & 0xFF)
                gdImageSetPixel(grey, x, y, (red * 299 + green * 587 + blue * 114) / 1000)
            }
        }
        return grey
    }
}

/// Why a picture could not be scaled; the raw value is the exit code of the process.
enum LogoScalingError: Int32, Error, Hashable, Sendable {
    case badSize = 64
    /// No PNG or JPEG, or too many pixels.
    case refused = 65
    case undecodable = 66
    case outOfMemory = 67
    /// The process could not be confined, and so decoded nothing.
    case notConfined = 68
}
