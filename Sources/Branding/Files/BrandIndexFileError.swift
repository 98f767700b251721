// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The reason why a saved index cannot be written or used.
///
/// Neither case affects calls. After a failed load the gateway builds the index from the cache. After a failed save the
/// next start builds it.
public enum BrandIndexFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file does not exist, as at the first start.
    case missing(path: String)
    /// Reading failed with errno `code`.
    case cannotRead(path: String, code: CInt)
    /// Writing failed with errno `code`.
    case cannotWrite(path: String, code: CInt)
    /// The file is not an index, or comes from another version of this program or another byte order.
    case otherFormat(path: String)
    /// The index was built from other records than the cache holds.
    case otherGeneration(path: String, found: Int64, expected: Int64)
    /// The index was rendered with other settings than the configuration's.
    case otherProfile(path: String)
    /// The file is truncated, too long, or changed since it was written.
    case damaged(path: String)

    public var description: String {
        switch self {
        case .missing(let path): "no saved index at \(path); it is built from the cache"
        case .cannotRead(let path, let code):
            "cannot read the saved index \(path): \(Self.text(code)); check owner and mode; the index is built from the cache"
        case .cannotWrite(let path, let code):
            "cannot save the index to \(path): \(Self.text(code)); check space, owner and mode of the folder"
        case .otherFormat(let path): "\(path) is not an index of this version; it is built from the cache"
        case .otherGeneration(let path, let found, let expected):
            "the saved index \(path) is of generation \(found), the cache of \(expected); it is built from the cache"
        case .otherProfile(let path):
            "the saved index \(path) was rendered with other settings; it is built from the cache"
        case .damaged(let path): "the saved index \(path) is damaged; it is built from the cache"
        }
    }

    private static func text(_ code: CInt) -> String { String(cString: strerror(code)) }
}
