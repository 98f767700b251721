// SPDX-License-Identifier: Apache-2.0

import Atomics

/// One slot of the signal ring: 128 bytes of mapped memory, two cache lines.
///
/// Bytes 0–7 are a sequence number, the others 120 bytes of a signal. A signal (`SignalBytes`) takes as many slots in a row
/// as it needs, mostly one, two or three with the texts of an INVITE. Only the number of its first slot is written, last of
/// all; anything but the expected number means "not (wholly) written", or in the middle of a signal.
struct SignalSlot {
    /// Bytes of one slot.
    static let size = 128
    /// Bytes of a signal in it.
    static let share = size - 8
    /// Slots the longest signal takes.
    static let most = count(for: SignalBytes.most)

    private let base: UnsafeMutableRawPointer

    /// A view of the slot that starts at `base`, which is 64-byte aligned.
    init(base: UnsafeMutableRawPointer) {
        self.base = base
    }

    /// Slots for so many bytes of a signal.
    static func count(for bytes: Int) -> Int { (bytes + share - 1) / share }

    /// The number of the signal that begins in the slot; 0 in a slot never used so.
    var sequence: UnsafeAtomic<UInt64> {
        UnsafeAtomic(at: base.assumingMemoryBound(to: UnsafeAtomic<UInt64>.Storage.self))
    }

    /// What it holds of a signal.
    var bytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base + 8, count: Self.share) }
}
