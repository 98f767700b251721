// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Synchronization

/// A bounded ring of preallocated slots between the workers and the reader of a trace.
///
/// Any number of writers, one reader. A writer takes a slot with one compare-and-exchange and never waits: it drops its record
/// if the ring is full. The lock of a slot has one holder at a time by the order of the sequence numbers.
/// Source: D. Vyukov, bounded MPMC queue.
final class TraceRing: Sendable {
    /// A record without its bytes.
    struct Head {
        var kind = TraceRecord.Kind.received
        var wallMicroseconds: Int64 = 0
        var milliseconds: UInt64 = 0
        var address = PeerAddress(ipv4: 0, port: 0)
        var socket = 0
        var connection: UInt64 = 0
        var certified: UInt64?
    }

    private struct Content {
        var head = Head()
        var length = 0
        var bytes: [UInt8] = []
        var brand: [UInt8] = []
        /// Of a decision; stale in a message.
        var decision = TracedDecision()
    }

    private final class Slot: Sendable {
        let sequence: Atomic<UInt64>
        let content = Mutex(Content())

        init(_ position: Int) { sequence = Atomic(UInt64(position)) }
    }

    /// Bytes of a message that a record keeps.
    static let longestMessage = 8192
    /// Bytes of a slot at first; a longer message enlarges it for good.
    private static let usualMessage = 2048

    private let slots: [Slot]
    private let tail = Atomic<UInt64>(0)
    private let head = Atomic<UInt64>(0)
    private let lost = Atomic<UInt64>(0)
    /// Turns a position into an index.
    private let mask: UInt64

    /// Allocates the memory of all slots.
    ///
    /// - Parameter capacity: records, rounded up to a power of two.
    init(capacity: Int) {
        var count = 2
        while count < capacity { count *= 2 }
        slots = (0..<count).map { Slot($0) }
        mask = UInt64(count - 1)
        for slot in slots { slot.content.withLock { $0.bytes.reserveCapacity(Self.usualMessage) } }
    }

    /// Records that found the ring full.
    var dropped: UInt64 { lost.load(ordering: .relaxed) }

    /// Copies a record into a free slot; drops and counts it if there is none.
    ///
    /// - Parameter decided: adds the decision and the name of the brand.
    func append(
        _ head: Head, _ bytes: Span<UInt8>, decided: ((inout TracedDecision, inout [UInt8]) -> Void)? = nil
    ) {
        var position = tail.load(ordering: .relaxed)
        while true {
            let slot = slots[Int(position & mask)]
            let ahead = Int64(bitPattern: slot.sequence.load(ordering: .acquiring) &- position)
            if ahead < 0 {
                lost.wrappingAdd(1, ordering: .relaxed)
                return
            }
            guard ahead == 0 else {
                position = tail.load(ordering: .relaxed)
                continue
            }
            let (isTaken, present) = tail.weakCompareExchange(
                expected: position, desired: position &+ 1, ordering: .relaxed)
            guard isTaken else {
                position = present
                continue
            }
            slot.content.withLock { content in
                content.head = head
                content.length = bytes.count
                content.bytes.removeAll(keepingCapacity: true)
                bytes.withUnsafeBufferPointer { content.bytes.append(contentsOf: $0.prefix(Self.longestMessage)) }
                if let decided {
                    content.brand.removeAll(keepingCapacity: true)
                    decided(&content.decision, &content.brand)
                }
            }
            return slot.sequence.store(position &+ 1, ordering: .releasing)
        }
    }

    /// Copies the oldest record into one whose memory is reused; false if there is none. One reader at a time.
    func take(into record: inout TraceRecord) -> Bool {
        let position = head.load(ordering: .relaxed)
        let slot = slots[Int(position & mask)]
        guard slot.sequence.load(ordering: .acquiring) == position &+ 1 else { return false }
        slot.content.withLock { content in
            record.kind = content.head.kind
            record.wallMicroseconds = content.head.wallMicroseconds
            record.milliseconds = content.head.milliseconds
            record.address = content.head.address
            record.socket = content.head.socket
            record.connection = content.head.connection
            record.certified = content.head.certified
            record.length = content.length
            // Real copies: an array that shared the buffer would make the next writer allocate.
            record.bytes.removeAll(keepingCapacity: true)
            content.bytes.withUnsafeBufferPointer { record.bytes.append(contentsOf: $0) }
            guard content.head.kind == .decided else { return }
            record.brand.removeAll(keepingCapacity: true)
            content.brand.withUnsafeBufferPointer { record.brand.append(contentsOf: $0) }
            record.decision = content.decision
        }
        head.store(position &+ 1, ordering: .relaxed)
        slot.sequence.store(position &+ UInt64(slots.count), ordering: .releasing)
        return true
    }
}
