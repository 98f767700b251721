// SPDX-License-Identifier: Apache-2.0

import Atomics

/// One slot of the ring: 128 bytes of mapped memory, two cache lines.
///
/// Bytes 0–7 are a sequence number, the other 120 bytes are part of an update. An update (`UpdateBytes`) takes as many
/// slots in a row as it needs: mostly one, with the texts of an INVITE two or three. Only the number of its first slot
/// is written, after all bytes. Any other number than the expected one means an unfinished update or the middle of one.
struct UpdateSlot {
    /// Bytes of one slot.
    static let size = 128
    /// Bytes of an update in one slot.
    static let share = size - 8
    /// Slots of the longest update.
    static let most = count(for: UpdateBytes.most)

    private let base: UnsafeMutableRawPointer

    /// A view of the slot that starts at `base`, which is 64-byte aligned.
    init(base: UnsafeMutableRawPointer) {
        self.base = base
    }

    /// Slots for a number of bytes.
    static func count(for bytes: Int) -> Int { (bytes + share - 1) / share }

    /// The number of the update that begins in the slot; 0 if none ever did.
    var sequence: UnsafeAtomic<UInt64> {
        UnsafeAtomic(at: base.assumingMemoryBound(to: UnsafeAtomic<UInt64>.Storage.self))
    }

    /// The part of an update in this slot.
    var bytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base + 8, count: Self.share) }
}
