// SPDX-License-Identifier: Apache-2.0

/// A range of positions in a message, in half the size of `Range<Int>`.
///
/// A message has some twenty header fields (RFC 3261 §7.3) and stays with its transaction. Positions are below 2^32, since no
/// longer message is indexed.
struct ByteRange: Hashable, Sendable {
    private let lower: UInt32
    private let upper: UInt32

    init(_ range: Range<Int>) {
        lower = UInt32(truncatingIfNeeded: range.lowerBound)
        upper = UInt32(truncatingIfNeeded: range.upperBound)
    }

    var range: Range<Int> { Range(uncheckedBounds: (Int(lower), Int(upper))) }
}
