// SPDX-License-Identifier: Apache-2.0

/// Positions by bytes that their owner keeps: open addressing, at most three quarters full.
///
/// The hash differs in each process, so nobody can choose addresses that share a place.
struct PositionTable: Sendable {
    /// Each position plus 1; 0 for a free place.
    private var places: [UInt32]

    /// An empty table for at most `count` positions.
    init(count: Int) {
        var size = 4
        while 3 * size < 4 * count { size *= 2 }
        places = Array(repeating: 0, count: size)
    }

    /// The position that was put for bytes; `hasBytes` is true for a position that has them.
    func position(of bytes: Span<UInt8>, _ hasBytes: (Int) -> Bool) -> Int? {
        let place = place(of: bytes, hasBytes)
        return places[place] == 0 ? nil : Int(places[place]) - 1
    }

    /// Puts a position for its bytes, in the place of an earlier one with the same bytes.
    mutating func put(_ position: Int, for bytes: Span<UInt8>, _ hasBytes: (Int) -> Bool) {
        places[place(of: bytes, hasBytes)] = UInt32(position + 1)
    }

    private func place(of bytes: Span<UInt8>, _ hasBytes: (Int) -> Bool) -> Int {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        var place = hasher.finalize() & (places.count - 1)
        while places[place] != 0, !hasBytes(Int(places[place]) - 1) { place = (place + 1) & (places.count - 1) }
        return place
    }
}
