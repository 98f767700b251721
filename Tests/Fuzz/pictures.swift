// SPDX-License-Identifier: Apache-2.0

/// Any file that somebody sends as a logo: its header is read without a crash, and removing metadata invents nothing.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzPictures(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    let picture = try? LogoPicture(bytes)
    if let picture {
        precondition(picture.width > 0 && picture.height > 0 && picture.format == LogoPicture.Format(bytes))
    } else {
        precondition(!UnsupportedPicture.name(of: bytes).isEmpty)
    }
    if let turn = PictureOrientation.of(bytes) { precondition((2...8).contains(turn)) }
    guard let picture, picture.format.isServed else { return 0 }
    let kept = PictureMetadata.removed(from: bytes)
    // An Exif segment with the orientation alone has 36 bytes.
    precondition(kept.count <= bytes.count + 36)
    precondition(PictureOrientation.of(kept) == nil || PictureOrientation.of(kept) == PictureOrientation.of(bytes))
    return 0
}
