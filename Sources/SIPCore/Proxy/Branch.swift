// SPDX-License-Identifier: Apache-2.0

/// The identity of a transaction as this proxy sees it, and the branch it forwards the request with.
///
/// A keyed hash of the received branch, sent-by, Call-ID and CSeq number. CANCEL and the ACK of a refused INVITE share
/// them with their INVITE (RFC 3261 §9.1, §17.1.1.3), so they find it by the same hash; a retransmission after a restart
/// gets the branch it had before (§16.11). Without the magic cookie of §8.1.1.7 the whole Via, the From tag and the
/// Request-URI take the branch's place, as §17.2.3 asks.
package struct Branch: Hashable, Sendable {
    package let value: UInt64

    /// The standard library's own requirement for the place in a table.
    package func _rawHashValue(seed: Int) -> Int { KeyedHash.place(of: value, seed: seed) }

    /// Takes the value of a branch that was computed before, as timers and the transport carry it.
    package init(token: UInt64) { value = token }

    /// What every branch of Herald begins with: the cookie of RFC 3261 §8.1.1.7 and a mark of its own.
    private static let prefix: StaticString = "z9hG4bKhd"

    /// Computes the branch of a request from its topmost Via; `via` must belong to `message`.
    package init(of message: SIPMessage, via: ViaValue, secret: Secret) {
        let bytes = message.bytes
        let (callID, sequence) = (message.first(.callID)?.value, message.sequence?.number ?? 0)
        if let branch = via.branch, Self.hasCookie(branch, in: bytes.span) {
            self.init(branch, of: via, callID: callID, sequence: sequence, in: bytes.span, secret: secret)
            return
        }
        var hash = secret.hash()
        hash.combine(via.extent, of: message)
        if let tag = message.fromTag { hash.combine(tag, of: message) }
        hash.combine(message.requestURI, of: message)
        self.init(token: hash.finish(callID: callID, sequence: sequence, in: bytes.span))
    }

    /// Computes the branch of an INVITE looked at in `bytes`: the same as that of the message.
    package init(of invite: InviteGlance, in bytes: Span<UInt8>, secret: Secret) {
        self.init(
            invite.branch, of: invite.topVia, callID: invite.callID, sequence: invite.sequence, in: bytes,
            secret: secret)
    }

    /// Computes the branch of a request from a branch parameter with the cookie.
    private init(
        _ branch: Range<Int>, of via: ViaValue, callID: Range<Int>?, sequence: Int, in bytes: Span<UInt8>,
        secret: Secret
    ) {
        var hash = secret.hash()
        hash.combine(branch, of: bytes)
        hash.combine(via.host, of: bytes)
        hash.combine(UInt64(via.port ?? 5060))
        value = hash.finish(callID: callID, sequence: sequence, in: bytes)
    }

    /// Whether a branch parameter begins with the cookie of RFC 3261 §8.1.1.7.
    static func hasCookie(_ branch: Range<Int>, in bytes: Span<UInt8>) -> Bool {
        bytes.bytes.extracting(branch).extracting(first: 7).equals("z9hG4bK")
    }

    /// Reads a branch that `append(attempt:to:)` wrote; nil for anybody else's.
    package init?(_ text: ArraySlice<UInt8>) {
        let prefixLength = Self.prefix.utf8CodeUnitCount
        let digits = text.dropFirst(prefixLength)
        guard digits.count == 16 || digits.count == 17, text.prefix(prefixLength).equalsIgnoringCase(Self.prefix),
            let value = Hexadecimal.read(digits.prefix(16))
        else { return nil }
        self.value = value
    }

    /// Which attempt the branch belongs to: 0 for the first target, 1 for the next and so on.
    package static func attempt(_ text: ArraySlice<UInt8>) -> UInt8 {
        guard text.count == prefix.utf8CodeUnitCount + 17, let digit = text.last else { return 0 }
        return Hexadecimal.digit(digit) ?? 0
    }

    /// Writes the branch parameter's value; each attempt at another target has its own (RFC 3261 §16.6 step 8).
    package func append(attempt: UInt8 = 0, to out: inout [UInt8]) {
        out.append(Self.prefix)
        out.append(hex: value)
        if attempt > 0 { out.append(Hexadecimal.character(attempt & 15)) }
    }
}

/// The gateway's secret: sixteen bytes kept on disk, so that hashes are the same after a restart and nobody can make them.
package struct Secret: Sendable {
    private let key0: UInt64
    private let key1: UInt64

    package init(key0: UInt64, key1: UInt64) {
        self.key0 = key0
        self.key1 = key1
    }

    /// A hash to combine parts into; parts are separated by their lengths.
    package func hash() -> KeyedHash { KeyedHash(SipHash(key0: key0, key1: key1)) }
}

/// A keyed hash over parts of a message, each with its length, so that no two lists of parts look alike.
package struct KeyedHash {
    private var hash: SipHash
    /// A number of this process: who sees results could else pick out those that fall together, and send them again.
    private static let factor = UInt64.random(in: 0 ... .max) | 1

    fileprivate init(_ hash: SipHash) { self.hash = hash }

    /// The place of a result in a table: it is a hash already, so one multiplication does, for all bits of it.
    package static func place(of result: UInt64, seed: Int) -> Int {
        let (high, low) = (result ^ UInt64(truncatingIfNeeded: seed)).multipliedFullWidth(by: factor)
        return Int(truncatingIfNeeded: high ^ low)
    }

    /// Adds a part of the message.
    ///
    /// Kept out of its callers: a dozen copies of it were more code to fetch for each call (docs/performance.md).
    @inline(never)
    package mutating func combine(_ bytes: ArraySlice<UInt8>) {
        hash.combine(counted: bytes.span)
    }

    /// Adds a part of a message, of which no slice is made: that counts references twice.
    @inline(never)
    package mutating func combine(_ part: Range<Int>, of message: SIPMessage) {
        message.bytes.withUnsafeBufferPointer { hash.combine(counted: UnsafeBufferPointer(rebasing: $0[part]).span) }
    }

    /// Adds a part of the bytes of a message.
    @inline(never)
    package mutating func combine(_ part: Range<Int>, of bytes: Span<UInt8>) {
        hash.combine(counted: bytes.extracting(part))
    }

    /// Adds a number.
    package mutating func combine(_ number: UInt64) { hash.combine(number) }

    /// The 64-bit result, with what tells one request of a call from another.
    fileprivate consuming func finish(callID: Range<Int>?, sequence: Int, in bytes: Span<UInt8>) -> UInt64 {
        if let callID { combine(callID, of: bytes) }
        combine(UInt64(sequence))
        return finish()
    }

    /// The 64-bit result.
    package consuming func finish() -> UInt64 { hash.finalizeFirst() }

    /// The 128-bit result.
    package consuming func finishWide() -> (high: UInt64, low: UInt64) {
        let (first, last) = hash.finalize()
        return (first, last)
    }
}
