// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The keys of the cluster's secrets: the first signs, all of them verify.
package struct SiblingKeys: Hashable, Sendable {
    /// One secret of 16 bytes, as two halves.
    package struct Key: Hashable, Sendable, Redacted {
        let first: UInt64
        let second: UInt64

        package init(first: UInt64, second: UInt64) {
            self.first = first
            self.second = second
        }
    }

    private let keys: [Key]

    /// - Parameter keys: the signing key first; at least one.
    package init(_ keys: [Key]) { self.keys = keys }

    /// Separates this use from all others of the secret, which begin with constants of their own.
    private static let use: UInt64 = 0x51b1_6e67_7265_0006

    /// The seal of a datagram by the first key: 128 bits of SipHash.
    func seal(_ bytes: Span<UInt8>) -> (UInt64, UInt64)? { keys.first.map { Self.seal(bytes, $0) } }

    /// Whether one of the keys made a seal.
    func verify(_ bytes: Span<UInt8>, _ seal: (UInt64, UInt64)) -> Bool {
        keys.contains { key in
            let own = Self.seal(bytes, key)
            // Without a branch on each half, so that the time does not depend on the half that differs.
            return (own.0 ^ seal.0) | (own.1 ^ seal.1) == 0
        }
    }

    private static func seal(_ bytes: Span<UInt8>, _ key: Key) -> (UInt64, UInt64) {
        var hash = SipHash(key0: key.first, key1: key.second)
        hash.combine(use)
        hash.combine(counted: bytes.indices, of: bytes)
        let (first, last) = hash.finalize()
        return (first, last)
    }
}
