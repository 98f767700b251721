// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import SIPCore

/// Preallocated buffers of one vector read, and the vector write.
struct DatagramBatch: ~Copyable {
    /// The messages being written. Their storage is reused.
    var sending: [OutgoingMessage] = []
    /// Messages for streams, forwarded together.
    var streaming: [OutgoingMessage] = []
    private let inbox: OpaquePointer

    /// Allocates buffers for a batch of datagrams of `capacity` bytes each. Pages are committed at first use.
    init(capacity: Int) {
        guard let inbox = herald_make_inbox(capacity) else {
            preconditionFailure("the system gave no memory for \(capacity) bytes of each datagram of a batch")
        }
        self.inbox = inbox
    }

    deinit { herald_free_inbox(inbox) }

    /// Reads waiting datagrams. Returns their number; 0 for none or an error (the next wait shows it again).
    mutating func receive(on descriptor: Int32) -> Int {
        Int(max(herald_receive_datagrams(descriptor, inbox), 0))
    }

    /// Returns a datagram of the last read. Its bytes are valid until the next read.
    func received(_ index: Int) -> herald_datagram { herald_received(inbox, Int32(index)) }

    /// Sends datagrams of one socket.
    ///
    /// Returns the number of handled datagrams.
    ///
    /// `trouble` is called for a datagram that the kernel refused.
    static func send(
        _ datagrams: Span<OutgoingMessage>, on descriptor: Int32,
        trouble: (OutgoingMessage, _ errno: Int32) -> Void
    ) -> Int {
        withUnsafeTemporaryAllocation(of: herald_datagram.self, capacity: datagrams.count) { slots in
            fill(slots, with: datagrams, at: 0) { count in
                let sent = herald_send_datagrams(descriptor, slots.baseAddress, Int32(count))
                if sent > 0 { return Int(sent) }
                // None is sent if the socket's buffer is full. The first is dropped, as a network would do.
                trouble(datagrams[0], -sent)
                return 1
            }
        }
    }

    /// Pins the datagrams one after the other, then runs `body` while all are pinned.
    private static func fill(
        _ slots: UnsafeMutableBufferPointer<herald_datagram>, with datagrams: Span<OutgoingMessage>, at index: Int,
        _ body: (Int) -> Int
    ) -> Int {
        guard index < datagrams.count else { return body(index) }
        return datagrams[index].bytes.withUnsafeBufferPointer { bytes in
            var slot = herald_datagram()
            slot.data = UnsafeMutablePointer(mutating: bytes.baseAddress)
            slot.length = UInt32(bytes.count)
            datagrams[index].destination.write(to: &slot)
            slots[index] = slot
            return fill(slots, with: datagrams, at: index + 1, body)
        }
    }
}
