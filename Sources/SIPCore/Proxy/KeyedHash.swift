// SPDX-License-Identifier: Apache-2.0

import Hashing

/// The gateway's secret: sixteen bytes kept on disk, so that hashes are the same after a restart and nobody can make them.
package struct Secret: Sendable {
    private let key0: UInt64
    private let key1: UInt64

    package init(key0: UInt64, key1: UInt64) {
        self.key0 = key0
        self.key1 = key1
    }

    /// A hash to combine parts into; parts are separated by their lengths.
    package func hash(for use: KeyedHashUse) -> KeyedHash {
        var hash = KeyedHash(SipHash(key0: key0, key1: key1))
        if use != .callName { hash.combine(use.rawValue) }
        return hash
    }
}

/// The use of a keyed hash.
///
/// One secret serves all uses. Each begins with a constant of its own, so a result of one use is worthless for another.
/// The constants are above every length. A call's name begins with a length, so it needs no constant.
package enum KeyedHashUse: UInt64, Sendable {
    /// The branch of a forwarded request (RFC 3261 §16.6 step 8).
    case branch = 0xbb61_6e63_6800_0001
    /// The seal of a route cookie (RFC 3261 §16.6 step 4).
    case dialogSeal = 0xd1a1_6f67_7365_0002
    /// The To tag of the gateway's own responses (RFC 3261 §8.2.6.2).
    case ownTag = 0xf07a_6774_6167_0003
    /// The mark that ends loops (RFC 3261 §16.6 step 8).
    case loopMark = 0xa10f_706d_6172_0004
    /// The seal of an OPTIONS that probes a target (RFC 3261 §11.1).
    case probe = 0x970b_6570_7262_0005
    /// The name of a call in call updates and in the ledger.
    case callName = 0
}

/// A keyed hash over parts of a message; each part is hashed with its length, so that no two lists of parts collide.
package struct KeyedHash {
    private var hash: SipHash

    fileprivate init(_ hash: SipHash) { self.hash = hash }

    /// Adds a part of the message.
    ///
    /// Kept out of its callers: a dozen copies of it were more code to fetch for each call (docs/performance.md).
    @inline(never)
    package mutating func combine(_ bytes: ArraySlice<UInt8>) {
        hash.combine(counted: bytes.span)
    }

    /// Adds a part of a message without a slice, which would count references twice.
    @inline(never)
    package mutating func combine(_ part: Range<Int>, of message: SIPMessage) {
        message.bytes.withUnsafeBufferPointer { hash.combine(counted: UnsafeBufferPointer(rebasing: $0[part]).span) }
    }

    /// Adds a number.
    package mutating func combine(_ number: UInt64) { hash.combine(number) }

    /// The 64-bit result.
    package consuming func finish() -> UInt64 { hash.finalizeFirst() }

    /// The 128-bit result.
    package consuming func finishWide() -> (high: UInt64, low: UInt64) {
        let (first, last) = hash.finalize()
        return (first, last)
    }
}
