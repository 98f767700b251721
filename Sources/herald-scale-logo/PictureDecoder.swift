// SPDX-License-Identifier: Apache-2.0

import Branding
import CGD
import CPictures

/// Decodes the first frame of a picture into true colours, with the library for its format.
enum PictureDecoder {
    /// A picture of true colours, as it is in the file.
    struct Decoded: ~Copyable {
        let image: gdImagePtr
        /// The turn that shows it upright, 1 to 8 (Exif 2.3 §4.6.4 A).
        let orientation: Int

        deinit { gdImageDestroy(image) }
    }

    /// - Parameter maxPixels: larger pictures are refused before they are decoded.
    static func decoded(_ bytes: [UInt8], maxPixels: Int) throws(LogoScalingError) -> Decoded {
        let picture: LogoPicture
        do throws(LogoPictureError) {
            picture = try LogoPicture(bytes)
        } catch {
            throw error == .cut ? .undecodable : .refused
        }
        // Each side too, because the product of two large sides overflows.
        guard max(picture.width, picture.height) <= maxPixels, picture.pixels <= maxPixels else { throw .tooLarge }
        let decoded =
            switch picture.format {
            case .png, .jpeg, .gif: try byGD(bytes, picture.format)
            case .webp: try byReader(bytes, maxPixels, herald_read_webp)
            case .avif: try byReader(bytes, maxPixels, herald_read_avif)
            case .heic: try byReader(bytes, maxPixels, herald_read_heic)
            }
        // The decoder's size counts, not the header's.
        let (width, height) = (Int(decoded.image.pointee.sx), Int(decoded.image.pointee.sy))
        guard width > 0, height > 0, width * height <= maxPixels else { throw .tooLarge }
        return decoded
    }

    private static func byGD(_ bytes: [UInt8], _ format: LogoPicture.Format) throws(LogoScalingError) -> Decoded {
        herald_gd_silence()
        var copy = bytes
        let image: gdImagePtr? = copy.withUnsafeMutableBytes { buffer in
            let count = CInt(buffer.count)
            return switch format {
            case .png: gdImageCreateFromPngPtr(count, buffer.baseAddress)
            case .gif: gdImageCreateFromGifPtr(count, buffer.baseAddress)
            default: gdImageCreateFromJpegPtr(count, buffer.baseAddress)
            }
        }
        guard let image else { throw .undecodable }
        let decoded = Decoded(image: image, orientation: PictureOrientation.of(bytes) ?? 1)
        guard gdImagePaletteToTrueColor(image) != 0 else { throw .outOfMemory }
        return decoded
    }

    private typealias Reader = (UnsafePointer<UInt8>?, Int, Int, UnsafeMutablePointer<herald_picture>?) -> CInt

    private static func byReader(
        _ bytes: [UInt8], _ maxPixels: Int, _ read: Reader
    ) throws(LogoScalingError) -> Decoded {
        var picture = herald_picture()
        let code = bytes.withUnsafeBufferPointer { read($0.baseAddress, $0.count, maxPixels, &picture) }
        guard Int(code) == HERALD_PICTURE_READ else { throw LogoScalingError(rawValue: code) ?? .undecodable }
        defer { herald_picture_free(&picture) }
        let image = herald_gd_picture(picture.pixels, picture.stride, CInt(picture.width), CInt(picture.height))
        guard let image else { throw .outOfMemory }
        // A container with a turn of its own has no other.
        let own = Int(picture.orientation)
        return Decoded(image: image, orientation: own == 1 ? PictureOrientation.of(bytes) ?? 1 : own)
    }
}
