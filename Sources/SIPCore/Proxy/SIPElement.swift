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

/// A message to be sent: a datagram, or part of a stream.
package struct OutgoingMessage: Sendable {
    package var bytes: [UInt8]
    /// With port 0 it goes by its connection or not at all.
    package var destination: PeerAddress
    /// Position of the local socket it leaves from.
    package var socket: Int
    /// The stream connection to use while it is open; 0 for any.
    package var connection: UInt64
    /// What `sendFailed` is told when it could not be delivered.
    package var token: DeliveryToken

    package init(
        bytes: [UInt8], destination: PeerAddress, socket: Int, connection: UInt64 = 0, token: DeliveryToken = .none
    ) {
        self.bytes = bytes
        self.destination = destination
        self.socket = socket
        self.connection = connection
        self.token = token
    }
}

/// Names the request a message carries, for word that it could not be delivered (RFC 3261 §8.1.3.1).
package struct DeliveryToken: Hashable, Sendable {
    /// Nobody wants to know: of responses, ACK and CANCEL, for which timers speak.
    package static let none = DeliveryToken(branch: Branch(token: 0), attempt: 0)

    /// The transaction.
    package let branch: Branch
    /// Which of its targets the request went to, as word may come when another is being tried.
    package let attempt: UInt8

    /// An attempt that no request of a call has.
    private static let probe: UInt8 = .max

    /// Names the OPTIONS of a probe by its number.
    package static func probe(_ number: UInt64) -> DeliveryToken {
        DeliveryToken(branch: Branch(token: number), attempt: probe)
    }

    /// The number of the probe it names; nil for the request of a transaction.
    package var probeNumber: UInt64? { attempt == Self.probe ? branch.value : nil }

    package init(branch: Branch, attempt: UInt8) {
        self.branch = branch
        self.attempt = attempt
    }
}

/// What a transport worker drives: bytes and timers in, messages out, nothing awaited.
///
/// The seam between the transport layer (RFC 3261 §18) and everything above it.
/// Every call comes from the one worker thread that owns the element. The worker takes what is to be sent after each
/// datagram, after what streams brought, and after timers.
package protocol SIPElement: AnyObject {
    /// Gives the messages to be sent for an empty list, whose room is used for the next; false when there are none.
    func exchangeOutgoing(for list: inout [OutgoingMessage]) -> Bool
    /// When `fireTimers` is wanted next, in monotonic milliseconds; nil when no timer runs.
    var nextDeadline: UInt64? { get }
    /// Takes one received message; its bytes are there until this returns.
    func receive(_ bytes: Span<UInt8>, by flow: Flow, at now: Moment)
    /// How full the queue is that messages come from; told before a batch of them.
    ///
    /// 1 is as much as may wait; some more may find room.
    var filling: Double { get set }
    /// Notes that the kernel cut a datagram, or that one could not be sent.
    func note(_ trouble: TransportTrouble)
    /// Hears that the message with this token could not be delivered.
    func sendFailed(_ token: DeliveryToken, at now: Moment)
    /// Hears that a datagram came back as undeliverable (RFC 3261 §18.4); the bytes are as much of it as came back.
    func cameBack(_ bytes: Span<UInt8>, at now: Moment)
    /// Runs every timer that is due.
    func fireTimers(at now: Moment)
}

extension SIPElement {
    package func cameBack(_ bytes: Span<UInt8>, at now: Moment) {}
}

/// Trouble of the transport that no message shows.
package enum TransportTrouble: Hashable, Sendable {
    /// A received datagram was larger than the buffer and is lost.
    case truncated
    /// The kernel refused to send; the error number. Transactions retransmit or time out.
    case unsent(errno: Int32)
}
