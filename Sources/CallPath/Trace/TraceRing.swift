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
        var address = PeerAddress(ipv4: 0, port: 0)
        var socket = 0
        var connection: UInt64 = 0
        var peer: UInt64 = 0
        var decision = TracedDecision()
    }

    private struct Content {
        var head = Head()
        var length = 0
        var bytes: [UInt8] = []
        var brand: [UInt8] = []
    }

    private final class Slot: Sendable {
        let sequence: Atomic<UInt64>
        let content = Mutex(Content())

        init(_ position: Int) { sequence = Atomic(UInt64(position)) }
    }

    /// Bytes of a message that a record keeps.
    static let longestMessage = 8192
    private static let longestBrand = 256

    private let slots: [Slot]
    private let tail = Atomic<UInt64>(0)
    private let head = Atomic<UInt64>(0)
    private let reserved = Atomic<Bool>(false)
    private let lost = Atomic<UInt64>(0)

    /// Makes a ring; `reserve` must follow before the first write.
    init(capacity: Int) { slots = (0..<max(2, capacity)).map { Slot($0) } }

    /// Allocates the memory of all slots, once; the slots keep it.
    func reserve() {
        guard !reserved.exchange(true, ordering: .relaxed) else { return }
        for slot in slots {
            slot.content.withLock { content in
                content.bytes.reserveCapacity(Self.longestMessage)
                content.brand.reserveCapacity(Self.longestBrand)
            }
        }
    }

    /// Records that found the ring full.
    var dropped: UInt64 { lost.load(ordering: .relaxed) }

    /// Copies a record into a free slot; drops and counts it if there is none.
    func append(_ head: Head, _ bytes: Span<UInt8>, brand: (inout [UInt8]) -> Void = { _ in }) {
        var position = tail.load(ordering: .relaxed)
        while true {
            let slot = slots[Int(position % UInt64(slots.count))]
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
                content.brand.removeAll(keepingCapacity: true)
                brand(&content.brand)
            }
            return slot.sequence.store(position &+ 1, ordering: .releasing)
        }
    }

    /// Takes the oldest record; nil if there is none.
    ///
    /// One reader at a time.
    func take() -> TraceRecord? {
        let position = head.load(ordering: .relaxed)
        let slot = slots[Int(position % UInt64(slots.count))]
        guard slot.sequence.load(ordering: .acquiring) == position &+ 1 else { return nil }
        let record = slot.content.withLock { content in
            let head = content.head
            // Real copies: an array that shared the buffer would make the next writer allocate.
            return TraceRecord(
                kind: head.kind, wallMicroseconds: head.wallMicroseconds, address: head.address, socket: head.socket,
                connection: head.connection, peer: head.peer, length: content.length,
                bytes: content.bytes.withUnsafeBufferPointer { Array($0) },
                brand: content.brand.withUnsafeBufferPointer { Array($0) }, decision: head.decision)
        }
        head.store(position &+ 1, ordering: .relaxed)
        slot.sequence.store(position &+ UInt64(slots.count), ordering: .releasing)
        return record
    }
}
