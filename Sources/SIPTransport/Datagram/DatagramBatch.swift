// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import SIPCore

/// Preallocated room for one vector read, and the vector write.
struct DatagramBatch: ~Copyable {
    /// The messages being written; their room is used again and again.
    var sending: [OutgoingMessage] = []
    /// What is to go by streams, handed over together.
    var streaming: [OutgoingMessage] = []
    private let inbox: OpaquePointer

    /// Makes room for a batch of datagrams of `capacity` bytes each; pages are touched as they are needed.
    init(capacity: Int) {
        guard let inbox = herald_make_inbox(capacity) else {
            preconditionFailure("the system gave no memory for \(capacity) bytes of each datagram of a batch")
        }
        self.inbox = inbox
    }

    deinit { herald_free_inbox(inbox) }

    /// Reads what is there; the number of datagrams read, 0 when none or on an error (which the next wait shows again).
    mutating func receive(on descriptor: Int32) -> Int {
        Int(max(herald_receive_datagrams(descriptor, inbox), 0))
    }

    /// A datagram of the last read; its bytes stay until the next.
    func received(_ index: Int) -> herald_datagram { herald_received(inbox, Int32(index)) }

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
