// SPDX-License-Identifier: Apache-2.0

/// Tells brands apart without keeping their texts.
///
/// Two hashes of SipHash with the process's random key, 128 bits together: that any two of ten million brands agree has
/// a probability below 10^-24, and nobody outside the process can look for two that do.
struct BrandFingerprint: Hashable {
    private let first: Int
    private let second: Int

    /// Of what the directory says.
    init(_ record: BrandRecord) {
        self.init { hasher in
            hasher.combine(record.name)
            hasher.combine(record.brandID)
            hasher.combine(record.logoURL)
            hasher.combine(record.callReason)
        }
    }

    /// Of what a phone gets: the parts' lengths and the bytes of all of them.
    init(_ row: RenderedBrands.Row, _ bytes: UnsafeRawBufferPointer) {
        self.init { hasher in
            for length in [row.quotedName, row.icon, row.reason, row.brandID, row.escapedName] {
                hasher.combine(length)
            }
            hasher.combine(bytes: bytes)
        }
    }

    private init(_ feed: (inout Hasher) -> Void) {
        var hasher = Hasher()
        feed(&hasher)
        var other = hasher
        other.combine(1 as UInt8)
        first = hasher.finalize()
        second = other.finalize()
    }
}
