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
    ///   - bytes: a picture of `LogoPicture.Format`; the first frame of an animation counts.
    ///   - form: size and encoding of the result.
    ///   - maxPixels: larger pictures are refused before they are decoded.
    static func picture(
        _ bytes: [UInt8], as form: LogoForm, maxPixels: Int
    ) throws(LogoScalingError) -> [UInt8] {
        guard (16...1024).contains(form.width), (16...1024).contains(form.height) else { throw .badSize }
        let source = try PictureDecoder.decoded(bytes, maxPixels: maxPixels)
        guard let result = gdImageCreateTrueColor(CInt(form.width), CInt(form.height)) else { throw .outOfMemory }
        defer { gdImageDestroy(result) }
        let isTransparent = form.encoding == .png
        gdImageAlphaBlending(result, 0)
        let white: CInt = 0xFF_FFFF
        let clear: CInt = 127 << 24 | white
        gdImageFilledRectangle(
            result, 0, 0, CInt(form.width), CInt(form.height), isTransparent ? clear : white)
        gdImageAlphaBlending(result, isTransparent ? 0 : 1)
        gdImageSaveAlpha(result, isTransparent ? 1 : 0)
        let upright = try UprightPicture(source, within: form.width, form.height, enlarges: true)
        let (width, height) = (upright.image.pointee.sx, upright.image.pointee.sy)
        gdImageCopy(
            result, upright.image, (CInt(form.width) - width) / 2, (CInt(form.height) - height) / 2, 0, 0, width, height
        )
        return try encode(result, form)
    }

    /// Decodes a picture and encodes it again for a server: upright, without metadata, in its own proportions.
    ///
    /// A picture with transparency becomes a PNG. So does an opaque PNG or GIF, whose sharp edges a JPEG would blur, if
    /// the result is short enough. The others become JPEGs.
    ///
    /// - Parameters:
    ///   - side: the longest side in pixels. Small pictures are not enlarged.
    ///   - maxBytes: halves the sides until the result has at most this length.
    static func kept(
        _ bytes: [UInt8], side: Int, maxPixels: Int, maxBytes: Int
    ) throws(LogoScalingError) -> [UInt8] {
        guard (16...1024).contains(side) else { throw .badSize }
        let format = LogoPicture.Format(bytes)
        let source = try PictureDecoder.decoded(bytes, maxPixels: maxPixels)
        var side = side
        while side >= 16 {
            let upright = try UprightPicture(source, within: side, side, enlarges: false)
            let form = LogoForm(width: side, height: side, .png)
            let hasTransparency = herald_gd_has_transparency(upright.image) != 0
            if hasTransparency || format == .png || format == .gif {
                gdImageSaveAlpha(upright.image, hasTransparency ? 1 : 0)
                let made = try encode(upright.image, form)
                if made.count <= maxBytes { return made }
            }
            if !hasTransparency {
                let made = try encode(upright.image, LogoForm(width: side, height: side, .jpeg))
                if made.count <= maxBytes { return made }
            }
            side /= 2
        }
        throw .tooLarge
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
    /// Too many pixels, or bytes.
    case tooLarge = 65
    /// Cut short or damaged.
    case undecodable = 66
    case outOfMemory = 67
    /// The process could not be confined, and so decoded nothing.
    case notConfined = 68
    /// A format that is not supported, or a header without a size.
    case refused = 69
}
