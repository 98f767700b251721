// SPDX-License-Identifier: Apache-2.0

import Branding

/// Signals as bytes one after the other, to be kept where the ring does not reach: on the disk, past a power cut.
///
/// A byte for the version, then for each signal bytes 8 to 79 of its `SignalSlot` and, where these say that texts
/// follow, a byte with the length of the carrier's name and the texts without gaps. In the machine's own byte order, as
/// the slots are. One thread at a time.
package struct PackedSignals {
    /// What has been packed.
    package private(set) var bytes: [UInt8] = [Self.version]
    private let scratch = Scratch()

    package init() {}

    private static let version: UInt8 = 1
    /// Where the part of a slot begins and ends that every signal has.
    private static let fixed = 8..<80
    /// Places and limits of the texts in a slot, and where the length of each is.
    private static let texts = {
        let limits = SignalSlot.textLimits
        let sizes = [limits.sipCallID, limits.brandName, limits.brandID, limits.subscriber, limits.carrierName]
        var offset = fixed.upperBound
        return zip(sizes, [76, 77, 78, 79, carrierLength]).map { size, length in
            defer { offset += size }
            return (offset: offset, limit: size, lengthAt: length)
        }
    }()
    private static let carrierLength = SignalSlot.size - 1

    /// Adds a signal; `texts` are cut to the limits of a slot.
    package mutating func append(_ signal: CallSignal, texts: CallTexts?) {
        var (signal, texts) = (signal, texts)
        if signal.reason == .privacy {
            // The call path leaves a withheld number out; if it ever did not, it ends here.
            signal.caller = 0
            texts?.carrierName = []
        }
        SignalSlot(base: scratch.base).store(signal, texts: texts)
        let slot = scratch.bytes
        bytes.append(contentsOf: slot[Self.fixed])
        guard texts != nil else { return }
        bytes.append(slot[Self.carrierLength])
        for text in Self.texts { bytes.append(contentsOf: slot[text.offset..<text.offset + Int(slot[text.lengthAt])]) }
    }

    /// The packed signals in their order; nil if any byte is not what `append` makes, for half a story is none.
    package static func unpack(_ bytes: UnsafeRawBufferPointer) -> [(signal: CallSignal, texts: CallTexts?)]? {
        guard bytes.first == version else { return nil }
        let scratch = Scratch()
        var signals: [(signal: CallSignal, texts: CallTexts?)] = []
        var rest = bytes[1...]
        func take(_ count: Int, to offset: Int) -> Bool {
            guard count <= rest.count else { return false }
            let target = UnsafeMutableRawBufferPointer(start: scratch.base + offset, count: count)
            target.copyBytes(from: rest.prefix(count))
            rest = rest.dropFirst(count)
            return true
        }
        func takeTexts() -> Bool {
            guard take(1, to: carrierLength) else { return false }
            return texts.allSatisfy { text in
                let count = Int(scratch.bytes[text.lengthAt])
                return count <= text.limit && take(count, to: text.offset)
            }
        }
        while !rest.isEmpty {
            guard take(fixed.count, to: fixed.lowerBound) else { return nil }
            if scratch.bytes[75] & 15 == 1, !takeTexts() { return nil }
            guard let signal = SignalSlot(base: scratch.base).load() else { return nil }
            signals.append(signal)
        }
        return signals
    }

    /// Memory of one slot.
    private final class Scratch {
        let base = UnsafeMutableRawPointer.allocate(byteCount: SignalSlot.size, alignment: 64)
        var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: SignalSlot.size) }

        init() { base.initializeMemory(as: UInt8.self, repeating: 0, count: SignalSlot.size) }
        deinit { base.deallocate() }
    }
}
