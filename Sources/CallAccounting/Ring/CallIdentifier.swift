// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The identifier of one call: 128 bits, the same for every retransmission and after every restart.
///
/// A keyed hash of Call-ID, the caller's From tag and the direction, written as a UUID. The secret is on disk.
/// Branches, authentication retries and retransmissions of one initial INVITE share it.
public struct CallIdentifier: Hashable, Sendable, CustomStringConvertible {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The requirement of `Hashable` that gives a place in a table: an identifier is a hash already.
    public func _rawHashValue(seed: Int) -> Int { TablePlace.of(high ^ low, seed: seed) }

    /// Reads the 36-character lower-case UUID form that `description` writes.
    public init?(_ text: some StringProtocol) {
        let hex = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard text.utf8.count == 36, hex.count == 32, let high = Hexadecimal.read(hex[..<16]),
            let low = Hexadecimal.read(hex[16...])
        else { return nil }
        self.init(high: high, low: low)
    }

    /// The identifier of a second call to `called`, after a call to another destination used this identifier.
    ///
    /// It depends on both alone. This identifier is the key of the hash, so no sender can produce a collision.
    public func toward(_ called: String) -> CallIdentifier {
        var hash = SipHash(key0: high, key1: low)
        for byte in called.utf8 { hash.combine(byte) }
        let (first, last) = hash.finalize()
        return CallIdentifier(high: first, low: last)
    }

    /// The identifier of one INVITE of this call that was rejected, by a hash of its own.
    ///
    /// Other branches of the call, and a later attempt under the same Call-ID, are accounted for apart from it.
    public func rejected(_ invite: UInt64) -> CallIdentifier {
        var hash = SipHash(key0: high, key1: low)
        hash.combine(invite)
        let (first, last) = hash.finalize()
        return CallIdentifier(high: first, low: last)
    }

    /// Lower-case UUID form, 36 characters; the `<call id>` of event keys and `meta.call_event_id`.
    public var description: String {
        let digits = (
            Hexadecimal.characters(high >> 32), Hexadecimal.characters(high & 0xffff_ffff),
            Hexadecimal.characters(low >> 32), Hexadecimal.characters(low & 0xffff_ffff)
        )
        return withUnsafeBytes(of: digits) { digits in
            String(unsafeUninitializedCapacity: 36) { buffer in
                let text = UnsafeMutableRawBufferPointer(buffer)
                func put(_ part: Range<Int>, at place: Int) {
                    text[place..<place + part.count].copyBytes(from: digits[part])
                    if place > 0 { text[place - 1] = UInt8(ascii: "-") }
                }
                put(0..<8, at: 0)
                put(8..<12, at: 9)
                put(12..<16, at: 14)
                put(16..<20, at: 19)
                put(20..<32, at: 24)
                return 36
            }
        }
    }
}
