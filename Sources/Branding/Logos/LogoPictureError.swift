// SPDX-License-Identifier: Apache-2.0

/// The reason why bytes are not a usable image.
public enum LogoPictureError: Error, Hashable, Sendable {
    /// None of `LogoPicture.Format`.
    case otherFormat
    /// The end of the image is missing.
    case cut
    /// The header declares no valid size.
    case noSize
}
