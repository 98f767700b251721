// SPDX-License-Identifier: Apache-2.0

import CGD

/// A scaled copy of a picture in its own proportions, turned upright.
///
/// The scaled copy is turned, not the source: a photograph of 16 million pixels needs its memory once.
struct UprightPicture: ~Copyable {
    let image: gdImagePtr

    /// - Parameters:
    ///   - width: the most columns.
    ///   - height: the most rows.
    ///   - enlarges: fills the rectangle in one direction, even by a smaller picture.
    init(
        _ source: borrowing PictureDecoder.Decoded, within width: Int, _ height: Int, enlarges: Bool
    ) throws(LogoScalingError) {
        let (columns, rows) = (Int(source.image.pointee.sx), Int(source.image.pointee.sy))
        let isOnItsSide = source.orientation >= 5
        let (most, mostRows) = isOnItsSide ? (height, width) : (width, height)
        let size =
            !enlarges && columns <= most && rows <= mostRows
            ? (columns, rows) : Self.fitted((columns, rows), into: (most, mostRows))
        guard let scaled = gdImageCreateTrueColor(CInt(size.0), CInt(size.1)) else { throw .outOfMemory }
        gdImageAlphaBlending(scaled, 0)
        gdImageCopyResampled(
            scaled, source.image, 0, 0, 0, 0, CInt(size.0), CInt(size.1), CInt(columns), CInt(rows))
        guard (2...8).contains(source.orientation) else {
            image = scaled
            return
        }
        defer { gdImageDestroy(scaled) }
        guard let upright = herald_gd_upright(scaled, CInt(source.orientation)) else { throw .outOfMemory }
        image = upright
    }

    deinit { gdImageDestroy(image) }

    /// The side that fills the rectangle first sets the scale.
    private static func fitted(_ size: (Int, Int), into most: (Int, Int)) -> (Int, Int) {
        size.0 * most.1 >= size.1 * most.0
            ? (most.0, max(1, size.1 * most.0 / size.0)) : (max(1, size.0 * most.1 / size.1), most.1)
    }
}
