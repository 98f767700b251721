// SPDX-License-Identifier: Apache-2.0

import Atomics
import Branding

/// One slot of the signal ring: 512 bytes of mapped memory, eight cache lines.
///
/// | bytes | what |
/// |---|---|
/// | 0–7 | sequence number, written last; anything but the expected number means "not (wholly) written" |
/// | 8–39 | call and alternative, high and low halves |
/// | 40–63 | wall clock, caller, destination |
/// | 64–71 | status, Q.850 cause, SIP cause, trunk |
/// | 72–74 | kind, direction, reason (0 = branded or not said) |
/// | 75 | bit 0: texts follow; bit 1: a session interval follows; bits 4–7: marks |
/// | 76–79 | lengths of the first four texts, or the session interval in seconds |
/// | 80–467 | SIP Call-ID (160), brand name (100), brand id (64), subscriber (64) |
/// | 468–511 | carrier's name (43) and its length |
///
/// Values are in the machine's own byte order: the file never leaves the machine.
struct SignalSlot {
    /// Bytes of one slot.
    static let size = 512
    /// Longest texts in bytes, in the order they are stored.
    static let textLimits = (sipCallID: 160, brandName: 100, brandID: 64, subscriber: 64, carrierName: 43)

    private let base: UnsafeMutableRawPointer

    /// A view of the slot that starts at `base`, which is 64-byte aligned.
    init(base: UnsafeMutableRawPointer) {
        self.base = base
    }

    /// The number of the signal in the slot; 0 in a slot never used.
    var sequence: UnsafeAtomic<UInt64> {
        UnsafeAtomic(at: base.assumingMemoryBound(to: UnsafeAtomic<UInt64>.Storage.self))
    }

    /// Fills everything but the sequence number.
    ///
    /// Plain stores: no allocation, no system call, no lock.
    func store(_ signal: borrowing CallSignal, texts: CallTexts?) {
        base.storeBytes(of: signal.call.high, toByteOffset: 8, as: UInt64.self)
        base.storeBytes(of: signal.call.low, toByteOffset: 16, as: UInt64.self)
        base.storeBytes(of: signal.alternative.high, toByteOffset: 24, as: UInt64.self)
        base.storeBytes(of: signal.alternative.low, toByteOffset: 32, as: UInt64.self)
        base.storeBytes(of: signal.wallMicroseconds, toByteOffset: 40, as: Int64.self)
        base.storeBytes(of: signal.caller, toByteOffset: 48, as: UInt64.self)
        base.storeBytes(of: signal.destination, toByteOffset: 56, as: UInt64.self)
        base.storeBytes(of: signal.status, toByteOffset: 64, as: UInt16.self)
        base.storeBytes(of: signal.q850Cause, toByteOffset: 66, as: UInt16.self)
        base.storeBytes(of: signal.sipCause, toByteOffset: 68, as: UInt16.self)
        base.storeBytes(of: signal.trunk, toByteOffset: 70, as: UInt16.self)
        base.storeBytes(of: signal.kind.rawValue, toByteOffset: 72, as: UInt8.self)
        base.storeBytes(of: signal.direction.rawValue, toByteOffset: 73, as: UInt8.self)
        base.storeBytes(of: signal.reason?.rawValue ?? 0, toByteOffset: 74, as: UInt8.self)
        let marks = signal.marks.rawValue << 4
        guard let texts else {
            // Without the bit the four bytes are not looked at: they may be left over from an earlier signal.
            base.storeBytes(of: marks | (signal.sessionSeconds > 0 ? 2 : 0), toByteOffset: 75, as: UInt8.self)
            if signal.sessionSeconds > 0 {
                base.storeBytes(of: signal.sessionSeconds, toByteOffset: 76, as: UInt32.self)
            }
            return
        }
        base.storeBytes(of: marks | 1, toByteOffset: 75, as: UInt8.self)
        let limits = Self.textLimits
        var offset = 80
        store(texts.sipCallID, limit: limits.sipCallID, lengthAt: 76, offset: &offset)
        store(texts.brandName, limit: limits.brandName, lengthAt: 77, offset: &offset)
        store(texts.brandID, limit: limits.brandID, lengthAt: 78, offset: &offset)
        store(texts.subscriber, limit: limits.subscriber, lengthAt: 79, offset: &offset)
        store(texts.carrierName, limit: limits.carrierName, lengthAt: 511, offset: &offset)
    }

    /// Reads the signal; nil if a byte of it is none that `store` could have written.
    func load() -> (signal: CallSignal, texts: CallTexts?)? {
        guard let kind = CallSignal.Kind(rawValue: load(72, as: UInt8.self)),
            let direction = CallSignal.Direction(rawValue: load(73, as: UInt8.self))
        else { return nil }
        let reasonByte = load(74, as: UInt8.self)
        let reason = PassThroughReason(rawValue: reasonByte)
        guard reasonByte == 0 || reason != nil else { return nil }
        // To the year 2255; no sum of times ends above what a number holds.
        guard (0..<(1 << 53)).contains(load(40, as: Int64.self)) else { return nil }
        var signal = CallSignal(
            kind: kind, direction: direction,
            call: CallIdentifier(high: load(8, as: UInt64.self), low: load(16, as: UInt64.self)),
            alternative: CallIdentifier(high: load(24, as: UInt64.self), low: load(32, as: UInt64.self)),
            wallMicroseconds: load(40, as: Int64.self), status: load(64, as: UInt16.self),
            q850Cause: load(66, as: UInt16.self), sipCause: load(68, as: UInt16.self),
            trunk: load(70, as: UInt16.self), caller: load(48, as: UInt64.self),
            destination: load(56, as: UInt64.self), reason: reason)
        let shape = load(75, as: UInt8.self)
        signal.marks = CallSignal.Marks(rawValue: shape >> 4)
        guard signal.marks.isSubset(of: .all) else { return nil }
        switch shape & 15 {
        case 0: return (signal, nil)
        case 1:
            guard let texts = loadTexts() else { return nil }
            return (signal, texts)
        case 2:
            signal.sessionSeconds = load(76, as: UInt32.self)
            return (signal, nil)
        default: return nil
        }
    }

    private func loadTexts() -> CallTexts? {
        let limits = Self.textLimits
        var offset = 80
        guard let sipCallID = text(limit: limits.sipCallID, lengthAt: 76, offset: &offset),
            let brandName = text(limit: limits.brandName, lengthAt: 77, offset: &offset),
            let brandID = text(limit: limits.brandID, lengthAt: 78, offset: &offset),
            let subscriber = text(limit: limits.subscriber, lengthAt: 79, offset: &offset),
            let carrierName = text(limit: limits.carrierName, lengthAt: 511, offset: &offset)
        else { return nil }
        return CallTexts(
            sipCallID: sipCallID, brandName: brandName, brandID: brandID, subscriber: subscriber,
            carrierName: carrierName)
    }

    private func store(_ text: [UInt8], limit: Int, lengthAt: Int, offset: inout Int) {
        let count = min(text.count, limit)
        text.withUnsafeBytes { source in
            guard count > 0, let start = source.baseAddress else { return }
            (base + offset).copyMemory(from: start, byteCount: count)
        }
        base.storeBytes(of: UInt8(truncatingIfNeeded: count), toByteOffset: lengthAt, as: UInt8.self)
        offset += limit
    }

    private func text(limit: Int, lengthAt: Int, offset: inout Int) -> [UInt8]? {
        let count = Int(load(lengthAt, as: UInt8.self))
        guard count <= limit else { return nil }
        defer { offset += limit }
        return [UInt8](UnsafeRawBufferPointer(start: base + offset, count: count))
    }

    private func load<Value: BitwiseCopyable>(_ offset: Int, as type: Value.Type) -> Value {
        base.load(fromByteOffset: offset, as: type)
    }
}
