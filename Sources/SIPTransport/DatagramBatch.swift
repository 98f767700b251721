// SPDX-License-Identifier: Apache-2.0

import CDatagram
import Glibc
import SIPCore

/// Preallocated room for one vector read, and the vector write.
struct DatagramBatch: ~Copyable {
    /// The messages being written; their room is used again and again.
    var sending: [OutgoingMessage] = []
    private let slots: UnsafeMutableBufferPointer<herald_datagram>
    private let room: UnsafeMutableBufferPointer<UInt8>

    /// Makes room for a batch of datagrams of `capacity` bytes each; pages are touched as they are needed.
    init(capacity: Int) {
        let count = Int(HERALD_DATAGRAM_BATCH)
        slots = .allocate(capacity: count)
        slots.initialize(repeating: herald_datagram())
        room = .allocate(capacity: count * capacity)
        for index in 0..<count {
            slots[index].data = room.baseAddress?.advanced(by: index * capacity)
            slots[index].capacity = UInt32(capacity)
        }
    }

    deinit {
        slots.deallocate()
        room.deallocate()
    }

    /// Reads what is there; the number of datagrams read, 0 when none or on an error (which the next wait shows again).
    mutating func receive(on descriptor: Int32) -> Int {
        Int(max(herald_receive_datagrams(descriptor, slots.baseAddress, Int32(slots.count)), 0))
    }

    func isTruncated(_ index: Int) -> Bool { slots[index].truncated != 0 }

    func source(_ index: Int) -> PeerAddress { PeerAddress(slots[index]) }

    /// The datagram's bytes in a buffer of their own: the one copy, kept for the transaction.
    func bytes(_ index: Int) -> [UInt8] {
        [UInt8](UnsafeBufferPointer(start: slots[index].data, count: Int(slots[index].length)))
    }

    /// Sends datagrams of one socket; the number dealt with.
    ///
    /// One the kernel refused is told to `trouble`.
    static func send(
        _ datagrams: ArraySlice<OutgoingMessage>, on descriptor: Int32,
        trouble: (OutgoingMessage, _ errno: Int32) -> Void
    ) -> Int {
        withUnsafeTemporaryAllocation(of: herald_datagram.self, capacity: datagrams.count) { slots in
            fill(slots, with: datagrams, at: 0) { count in
                let sent = herald_send_datagrams(descriptor, slots.baseAddress, Int32(count))
                if sent > 0 { return Int(sent) }
                // None when the socket's buffer is full for the moment: the first is given up, as a network would.
                trouble(datagrams[datagrams.startIndex], -sent)
                return 1
            }
        }
    }

    /// Pins one datagram after the other, then runs `body` while all their bytes stay in place.
    private static func fill(
        _ slots: UnsafeMutableBufferPointer<herald_datagram>, with datagrams: ArraySlice<OutgoingMessage>,
        at index: Int,
        _ body: (Int) -> Int
    ) -> Int {
        guard index < datagrams.count else { return body(index) }
        let datagram = datagrams[datagrams.startIndex + index]
        return datagram.bytes.withUnsafeBufferPointer { bytes in
            var slot = herald_datagram()
            slot.data = UnsafeMutablePointer(mutating: bytes.baseAddress)
            slot.length = UInt32(bytes.count)
            datagram.destination.write(to: &slot)
            slots[index] = slot
            return fill(slots, with: datagrams, at: index + 1, body)
        }
    }
}
