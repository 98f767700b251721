// SPDX-License-Identifier: Apache-2.0

/// Positions by bytes that their owner keeps: open addressing, at most three quarters full.
///
/// The hash differs in each process, so nobody can choose addresses that share a place.
struct PositionTable: Sendable {
    /// Each position plus 1 in the lower half, half of its hash in the upper one; 0 for a free place.
    private var places: [UInt64]

    /// An empty table for at most `count` positions.
    init(count: Int) {
        var size = 4
        while 3 * size < 4 * count { size *= 2 }
        places = Array(repeating: 0, count: size)
    }

    /// The position that was put for bytes; `hasBytes` is true for a position that has them.
    func position(of bytes: Span<UInt8>, _ hasBytes: (Int) -> Bool) -> Int? {
        let found = places[place(Self.hash(of: bytes), hasBytes)]
        return found == 0 ? nil : Self.position(in: found)
    }

    /// Puts a position for its bytes, in the place of an earlier one with the same bytes.
    mutating func put(_ position: Int, for bytes: Span<UInt8>, _ hasBytes: (Int) -> Bool) {
        let hash = Self.hash(of: bytes)
        places[place(hash, hasBytes)] = hash & Self.upperHalf | UInt64(position + 1)
    }

    /// The place with the bytes, or the free one for them. Bytes are compared where halves of hashes are equal.
    private func place(_ hash: UInt64, _ hasBytes: (Int) -> Bool) -> Int {
        let mask = places.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while places[place] != 0 {
            if (places[place] ^ hash) & Self.upperHalf == 0, hasBytes(Self.position(in: places[place])) { break }
            place = (place + 1) & mask
        }
        return place
    }

    private static let upperHalf: UInt64 = 0xFFFF_FFFF_0000_0000

    private static func position(in place: UInt64) -> Int { Int(place & ~upperHalf) - 1 }

    private static func hash(of bytes: Span<UInt8>) -> UInt64 {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
