// SPDX-License-Identifier: Apache-2.0

import Branding

/// The bytes of an update in the ring.
///
/// | bytes | content |
/// |---|---|
/// | 0–31 | call and counterpart, high and low halves; `call` twice without a counterpart |
/// | 32–55 | wall clock, caller, destination; above the 50 bits of both numbers the customer of an INVITE, 1 for an own response, or the called mark of a 2xx |
/// | 56–63 | status, Q.850 cause, SIP cause, trunk; of an INVITE the evidence in place of the first two |
/// | 64–66 | kind, direction, reason (0 = branded or unknown) |
/// | 67 | bit 0: texts follow; bit 1: a session interval follows; bit 2: a verdict follows; bits 4–6: marks; bit 7: the counterpart is a dialog, or an earlier attempt |
/// | 68–71 | lengths of the first four texts, or the session interval in seconds |
/// | 72–111 | of an INVITE with a verdict: `TrustBytes`; without one the rest begins at 72 |
/// | 72 or 112 | with texts: the length of the fifth |
/// | from 73 or 113 | SIP Call-ID, brand name, brand id, subscriber, carrier's name, without gaps |
///
/// Values are in the byte order of the machine, because the ring does not leave it.
struct UpdateBytes {
    /// Bytes of an update without verdict and texts, and of the longest one.
    static let least = 72
    static let most = 504 + TrustBytes.count
    private static let dialogBit: UInt8 = 128
    private static let trustBit: UInt8 = 4
    /// E.164 numbers are below 10^15, which is below 2^50.
    ///
    /// The 28 bits above two of them hold the mark of a customer, or of the called party that answered.
    private static let numberBits: UInt64 = 50

    private let base: UnsafeMutableRawPointer

    /// A view of `most` bytes at `base`, at any alignment.
    init(base: UnsafeMutableRawPointer) { self.base = base }

    /// Writes an update with its texts cut to their limits; returns the number of bytes.
    ///
    /// Plain stores: no allocation, no system call, no lock.
    func store(_ update: borrowing CallUpdate, texts: CallTexts?) -> Int {
        base.storeBytes(of: update.call.high, toByteOffset: 0, as: UInt64.self)
        base.storeBytes(of: update.call.low, toByteOffset: 8, as: UInt64.self)
        var marks = update.marks.rawValue << 4
        var counterpart = update.call
        switch update.counterpart {
        case .none: break
        case .callIfSentByCallee(let call): counterpart = call
        case .answererDialog(let other), .earlierAttempt(let other):
            counterpart = other
            marks |= Self.dialogBit
        }
        base.storeBytes(of: counterpart.high, toByteOffset: 16, as: UInt64.self)
        base.storeBytes(of: counterpart.low, toByteOffset: 24, as: UInt64.self)
        base.storeBytes(of: update.wallMicroseconds, toByteOffset: 32, as: Int64.self)
        let mark: UInt64 =
            switch update.kind {
            case .invite: UInt64(update.customer)
            case .failed: update.isOwn ? 1 : 0
            default: UInt64(update.calledMark)
            }
        base.storeBytes(
            of: update.caller | (mark & 0x3FFF) << Self.numberBits, toByteOffset: 40, as: UInt64.self)
        base.storeBytes(of: update.destination | (mark >> 14) << Self.numberBits, toByteOffset: 48, as: UInt64.self)
        if update.kind == .invite {
            base.storeBytes(of: update.evidence?.rawValue ?? 0, toByteOffset: 56, as: UInt32.self)
        } else {
            base.storeBytes(of: update.status, toByteOffset: 56, as: UInt16.self)
            base.storeBytes(of: update.q850Cause, toByteOffset: 58, as: UInt16.self)
        }
        base.storeBytes(of: update.sipCause, toByteOffset: 60, as: UInt16.self)
        base.storeBytes(of: update.trunk, toByteOffset: 62, as: UInt16.self)
        base.storeBytes(of: update.kind.rawValue, toByteOffset: 64, as: UInt8.self)
        base.storeBytes(of: update.direction.rawValue, toByteOffset: 65, as: UInt8.self)
        base.storeBytes(of: update.reason?.rawValue ?? 0, toByteOffset: 66, as: UInt8.self)
        var end = Self.least
        if update.kind == .invite, let trust = update.trust {
            TrustBytes.store(trust, at: base + end)
            marks |= Self.trustBit
            end += TrustBytes.count
        }
        guard let texts else {
            base.storeBytes(of: marks | (update.sessionSeconds > 0 ? 2 : 0), toByteOffset: 67, as: UInt8.self)
            base.storeBytes(of: update.sessionSeconds, toByteOffset: 68, as: UInt32.self)
            return end
        }
        base.storeBytes(of: marks | 1, toByteOffset: 67, as: UInt8.self)
        let limits = CallTexts.limits
        let fifth = end
        end += 1
        store(texts.sipCallID, limit: limits.sipCallID, lengthAt: 68, end: &end)
        store(texts.brandName, limit: limits.brandName, lengthAt: 69, end: &end)
        store(texts.brandID, limit: limits.brandID, lengthAt: 70, end: &end)
        store(texts.subscriber, limit: limits.subscriber, lengthAt: 71, end: &end)
        store(texts.carrierName, limit: limits.carrierName, lengthAt: fifth, end: &end)
        return end
    }

    private func store(_ text: [UInt8], limit: Int, lengthAt: Int, end: inout Int) {
        let count = CallTexts.cut(text[...], to: limit).count
        text.withUnsafeBytes { source in
            guard count > 0, let start = source.baseAddress else { return }
            (base + end).copyMemory(from: start, byteCount: count)
        }
        base.storeBytes(of: UInt8(truncatingIfNeeded: count), toByteOffset: lengthAt, as: UInt8.self)
        end += count
    }

    /// The length of the update at the beginning of `bytes`, from its first `least` + `TrustBytes.count` + 1 bytes.
    ///
    /// Nil for bytes that `store` cannot have written.
    static func length(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= least else { return nil }
        let fixed = fixedLength(bytes)
        guard bytes[67] & 1 == 1 else { return fixed }
        guard bytes.count > fixed else { return nil }
        let limits = CallTexts.limits
        let lengths = (Int(bytes[68]), Int(bytes[69]), Int(bytes[70]), Int(bytes[71]), Int(bytes[fixed]))
        guard lengths.0 <= limits.sipCallID, lengths.1 <= limits.brandName, lengths.2 <= limits.brandID,
            lengths.3 <= limits.subscriber, lengths.4 <= limits.carrierName
        else { return nil }
        return fixed + 1 + lengths.0 + lengths.1 + lengths.2 + lengths.3 + lengths.4
    }

    /// The bytes before those of the texts.
    private static func fixedLength(_ bytes: UnsafeRawBufferPointer) -> Int {
        bytes[67] & trustBit == 0 ? least : least + TrustBytes.count
    }

    /// Reads the update that consists of exactly these bytes; nil if `store` cannot have written them.
    static func load(_ bytes: UnsafeRawBufferPointer) -> CallUpdate? {
        guard length(bytes) == bytes.count, let kind = CallUpdate.Kind(rawValue: bytes[64]),
            let direction = CallUpdate.Direction(rawValue: bytes[65])
        else { return nil }
        func number<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Value {
            bytes.loadUnaligned(fromByteOffset: offset, as: Value.self)
        }
        let reason = PassThroughReason(rawValue: bytes[66])
        guard bytes[66] == 0 || reason != nil else { return nil }
        let wallMicroseconds: Int64 = number(32)
        // Up to the year 2255, so that no sum of times overflows.
        guard (0..<(1 << 53)).contains(wallMicroseconds) else { return nil }
        let call = CallIdentifier(high: number(0), low: number(8))
        let other = CallIdentifier(high: number(16), low: number(24))
        let isDialog = bytes[67] & dialogBit != 0
        let isInvite = kind == .invite
        let (caller, destination): (UInt64, UInt64) = (number(40), number(48))
        let below: UInt64 = 1 << Self.numberBits - 1
        let dialog = kind == .triedBefore ? CallUpdate.Counterpart.earlierAttempt(other) : .answererDialog(other)
        var update = CallUpdate(
            kind: kind, direction: direction, call: call,
            counterpart: isDialog ? dialog : other == call ? .none : .callIfSentByCallee(other),
            wallMicroseconds: wallMicroseconds, status: isInvite ? 0 : number(56), q850Cause: isInvite ? 0 : number(58),
            sipCause: number(60), trunk: number(62), caller: caller & below, destination: destination & below,
            reason: reason)
        let mark = UInt32(truncatingIfNeeded: caller >> Self.numberBits | (destination >> Self.numberBits) << 14)
        if isInvite {
            update.customer = mark
            let evidence = DecisionEvidence(rawValue: number(56))
            update.evidence = evidence.isPresent ? evidence : nil
        } else if kind == .failed {
            update.isOwn = mark == 1
        } else {
            update.calledMark = mark
        }
        update.marks = CallUpdate.Marks(rawValue: bytes[67] >> 4).intersection(.all)
        if bytes[67] & trustBit != 0 {
            guard isInvite, let trust = TrustBytes.load(bytes, at: least) else { return nil }
            update.trust = trust
        }
        switch bytes[67] & 15 & ~trustBit {
        case 0, 1: return update
        case 2:
            update.sessionSeconds = number(68)
            return update
        default: return nil
        }
    }

    /// The texts of an update that `load` has read; nil for an update without texts.
    static func texts(of bytes: UnsafeRawBufferPointer) -> CallTexts? {
        guard bytes[67] & 1 == 1 else { return nil }
        let fixed = fixedLength(bytes)
        var start = fixed + 1
        func text(lengthAt: Int) -> [UInt8] {
            defer { start += Int(bytes[lengthAt]) }
            return [UInt8](bytes[start..<start + Int(bytes[lengthAt])])
        }
        return CallTexts(
            sipCallID: text(lengthAt: 68), brandName: text(lengthAt: 69), brandID: text(lengthAt: 70),
            subscriber: text(lengthAt: 71), carrierName: text(lengthAt: fixed))
    }
}

extension CallUpdate {
    /// The length of an update without verdict and texts, as siblings exchange it.
    public static let byteCount = UpdateBytes.least

    /// The update without caller, called number, verdict and texts.
    ///
    /// The INVITE of another gateway begins no call here and moves the time of one alone, so its verdict has no reader. A
    /// gateway that goes on with a call gets the verdict with the row of the shared ledger. In the byte order of the
    /// machine, which is little-endian on every system that Herald supports.
    public var bytes: [UInt8] {
        var update = self
        (update.caller, update.destination, update.trust) = (0, 0, nil)
        return withUnsafeTemporaryAllocation(byteCount: UpdateBytes.most, alignment: 8) { buffer in
            guard let base = buffer.baseAddress else { return [] }
            let count = UpdateBytes(base: base).store(update, texts: nil)
            return Array(buffer[..<count])
        }
    }

    /// Reads what `bytes` wrote; nil for anything else.
    public init?(bytes: [UInt8]) {
        // With a verdict or texts an update has more bytes.
        guard bytes.count == Self.byteCount, let update = bytes.withUnsafeBytes({ UpdateBytes.load($0) }) else {
            return nil
        }
        self = update
    }
}
