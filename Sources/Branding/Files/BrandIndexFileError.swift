// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Why an index could not be saved, or a saved one not be used; calls are not concerned in either case.
///
/// After a failed load the index is built from the cache; after a failed save the next start builds it.
package enum BrandIndexFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no file; so it is at the first start.
    case missing(path: String)
    /// The system refused to read; `code` is its errno.
    case cannotRead(path: String, code: CInt)
    /// The system refused to write; `code` is its errno.
    case cannotWrite(path: String, code: CInt)
    /// No index, or one of another version of this program or another kind of machine.
    case otherFormat(path: String)
    /// Built from other records than the cache holds now.
    case otherGeneration(path: String, found: Int64, expected: Int64)
    /// Rendered by other rules than are configured now.
    case otherProfile(path: String)
    /// Cut short, longer than it says, or changed since it was written.
    case damaged(path: String)

    package var description: String {
        switch self {
        case .missing(let path): "no saved index at \(path); it is built from the cache"
        case .cannotRead(let path, let code):
            "cannot read the saved index \(path): \(Self.text(code)); check owner and mode, it is built from the cache"
        case .cannotWrite(let path, let code):
            "cannot save the index to \(path): \(Self.text(code)); check space, owner and mode of the folder"
        case .otherFormat(let path): "\(path) is no index of this version; it is built from the cache"
        case .otherGeneration(let path, let found, let expected):
            "the saved index \(path) is of generation \(found), the cache of \(expected); it is built from the cache"
        case .otherProfile(let path):
            "the saved index \(path) was rendered with other settings; it is built from the cache"
        case .damaged(let path): "the saved index \(path) is damaged; it is built from the cache"
        }
    }

    private static func text(_ code: CInt) -> String { String(cString: strerror(code)) }
}
