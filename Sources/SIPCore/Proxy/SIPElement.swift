// SPDX-License-Identifier: Apache-2.0

/// Time as the transport tells it; the rules have no clock of their own.
package struct Moment: Hashable, Sendable {
    /// Monotonic milliseconds, for timers.
    package var milliseconds: UInt64
    /// Wall clock in microseconds since 1970, for records.
    package var wallMicroseconds: Int64

    package init(milliseconds: UInt64, wallMicroseconds: Int64) {
        self.milliseconds = milliseconds
        self.wallMicroseconds = wallMicroseconds
    }
}

/// A datagram to be sent.
package struct OutgoingDatagram: Sendable {
    package var bytes: [UInt8]
    package var destination: PeerAddress
    /// Position of the local socket it leaves from.
    package var socket: Int

    package init(bytes: [UInt8], destination: PeerAddress, socket: Int) {
        self.bytes = bytes
        self.destination = destination
        self.socket = socket
    }
}

/// What a transport worker drives: bytes and timers in, datagrams out, nothing awaited.
///
/// The seam between the transport layer (RFC 3261 §18) and everything above it.
/// Every call comes from the one worker thread that owns the element. `outgoing` is emptied by the worker after each
/// round of calls, so answers leave in one vector write.
package protocol SIPElement: AnyObject {
    /// Datagrams to be sent since the worker last looked.
    var outgoing: [OutgoingDatagram] { get set }
    /// When `fireTimers` is wanted next, in monotonic milliseconds; nil when no timer runs.
    var nextDeadline: UInt64? { get }
    /// Takes one received datagram.
    func receive(_ datagram: [UInt8], from source: PeerAddress, on socket: Int, at now: Moment)
    /// Notes that the kernel cut a datagram, or that one could not be sent.
    func note(_ trouble: DatagramTrouble)
    /// Runs every timer that is due.
    func fireTimers(at now: Moment)
}

/// Trouble with datagrams that no message shows.
package enum DatagramTrouble: Hashable, Sendable {
    /// A received datagram was larger than the buffer and is lost.
    case truncated
    /// The kernel refused to send; the error number. Transactions retransmit or time out.
    case unsent(errno: Int32)
}
