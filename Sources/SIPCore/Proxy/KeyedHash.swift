// SPDX-License-Identifier: Apache-2.0

public import Primitives

/// The gateway's secret: sixteen bytes kept on disk, so that hashes are the same after a restart and nobody can make them.
///
/// The nodes of a cluster share one. While a secret is replaced, the new one signs and up to two earlier ones verify.
public struct Secret: Hashable, Sendable, Redacted {
    private struct Key: Hashable {
        let first: UInt64
        let second: UInt64
    }

    private let key: Key
    private let earlier: Key?
    private let earliest: Key?

    public init(key0: UInt64, key1: UInt64) {
        self.init(Key(first: key0, second: key1), nil, nil)
    }

    private init(_ key: Key, _ earlier: Key?, _ earliest: Key?) {
        self.key = key
        self.earlier = earlier
        self.earliest = earliest
    }

    /// This secret to sign with; `previous` and the one before it verify as well.
    public func replacing(_ previous: Secret) -> Secret { Secret(key, previous.key, previous.earlier) }

    /// The secret that signed before this one and still verifies; nil for none.
    public var previous: Secret? { earlier.map { Secret($0, earliest, nil) } }

    /// The secret of an age: 0 for this one, 1 for the previous one; nil for none.
    public func aged(_ age: Int) -> Secret? {
        age == 0 ? self : previous.flatMap { $0.aged(age - 1) }
    }

    /// The age of the first secret that passes a check, this one first; nil if none does.
    func age(where verifies: (Secret) -> Bool) -> Int? {
        if verifies(self) { return 0 }
        return previous?.age(where: verifies).map { $0 + 1 }
    }

    /// A hash to combine parts into; parts are separated by their lengths.
    public func hash(for use: KeyedHashUse) -> KeyedHash {
        var hash = KeyedHash(SipHash(key0: key.first, key1: key.second))
        if use != .callName { hash.combine(use.rawValue) }
        return hash
    }
}

/// The use of a keyed hash.
///
/// One secret serves all uses. Each begins with a constant of its own, so a result of one use is worthless for another.
/// The constants are above every length. A call's name begins with a length, so it needs no constant.
public enum KeyedHashUse: UInt64, Sendable {
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
    /// The name that the Call-ID of a withheld caller gets outside of SIP (RFC 3261 §8.1.1.4).
    case withheldCallID = 0xca11_6964_7769_0006
    /// The name of a call that a PBX reported, in call updates and in the ledger.
    case reportedCall = 0x4e90_7274_6361_0007
    /// The name of a call in call updates and in the ledger.
    case callName = 0
}

/// A keyed hash over parts of a message; each part is hashed with its length, so that no two lists of parts collide.
public struct KeyedHash: Redacted {
    private var hash: SipHash

    fileprivate init(_ hash: SipHash) { self.hash = hash }

    /// Adds a part of the message.
    ///
    /// Kept out of its callers: a dozen copies of it were more code to fetch for each call (docs/performance.md).
    @inline(never)
    public mutating func combine(_ bytes: ArraySlice<UInt8>) {
        hash.combine(counted: 0..<bytes.count, of: bytes.span)
    }

    /// Adds a part of a message without a slice, which would count references twice.
    @inline(never)
    public mutating func combine(_ part: Range<Int>, of message: SIPMessage) {
        let bytes = message.bytes
        hash.combine(counted: part, of: bytes.span)
    }

    /// Adds a number.
    public mutating func combine(_ number: UInt64) { hash.combine(number) }

    /// The 64-bit result.
    public consuming func finish() -> UInt64 { hash.finalizeFirst() }

    /// The 128-bit result.
    public consuming func finishWide() -> (high: UInt64, low: UInt64) {
        let (first, last) = hash.finalize()
        return (first, last)
    }
}
