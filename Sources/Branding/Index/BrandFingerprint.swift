// SPDX-License-Identifier: Apache-2.0

/// Identifies a brand by 128 bits, so that equal brands are found without keeping their texts.
///
/// Consists of two SipHash values under the random key of the process. Among ten million brands a collision has a
/// probability below 10^-24. Nobody outside the process can construct one.
struct BrandFingerprint: Hashable {
    private let first: Int
    private let second: Int

    /// Hashes the directory's record.
    init(_ record: BrandRecord) {
        self.init { hasher in
            hasher.combine(record.name)
            hasher.combine(record.brandID)
            hasher.combine(record.logoURL)
            hasher.combine(record.callReason)
        }
    }

    /// Hashes the rendered brand: the lengths of its parts and their bytes.
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
