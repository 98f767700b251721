// SPDX-License-Identifier: Apache-2.0

/// One reading of the transport's monotonic and wall clocks; the SIP rules have no clock of their own.
public struct Moment: Hashable, Sendable {
    /// Monotonic milliseconds, for timers.
    public var milliseconds: UInt64
    /// Wall clock in microseconds since 1970, for records.
    public var wallMicroseconds: Int64

    public init(milliseconds: UInt64, wallMicroseconds: Int64) {
        self.milliseconds = milliseconds
        self.wallMicroseconds = wallMicroseconds
    }
}

/// A message to be sent: a datagram, or part of a stream.
public struct OutgoingMessage: Sendable {
    public var bytes: [UInt8]
    /// With port 0 it goes by its connection or not at all.
    public var destination: PeerAddress
    /// Position of the local socket it leaves from.
    public var socket: Int
    /// The stream connection to use while it is open; 0 for any.
    public var connection: UInt64
    /// The argument of `sendFailed` when it could not be delivered.
    public var token: DeliveryToken

    public init(
        bytes: [UInt8], destination: PeerAddress, socket: Int, connection: UInt64 = 0, token: DeliveryToken = .none
    ) {
        self.bytes = bytes
        self.destination = destination
        self.socket = socket
        self.connection = connection
        self.token = token
    }
}

/// Identifies the request in a message, for a report that it could not be delivered (RFC 3261 §8.1.3.1).
public struct DeliveryToken: Hashable, Sendable {
    /// No report: for responses, ACK and CANCEL, for which timers suffice.
    public static let none = DeliveryToken(branch: Branch(token: 0), attempt: 0)

    /// The transaction.
    public let branch: Branch
    /// The attempt, since a report may arrive when another target is being tried.
    public let attempt: UInt8

    /// An attempt that no request of a call has.
    private static let probe: UInt8 = .max

    /// Names the OPTIONS of a probe by its number.
    public static func probe(_ number: UInt64) -> DeliveryToken {
        DeliveryToken(branch: Branch(token: number), attempt: probe)
    }

    /// The number of the probe it names; nil for the request of a transaction.
    public var probeNumber: UInt64? { attempt == Self.probe ? branch.value : nil }

    public init(branch: Branch, attempt: UInt8) {
        self.branch = branch
        self.attempt = attempt
    }
}

/// The element that a transport worker drives: bytes and timers in, messages out, no suspension.
///
/// The seam between the transport layer (RFC 3261 §18) and everything above it.
/// Only the worker thread that owns the element calls it. The worker takes the messages to send after each datagram, after
/// the streams, and after timers.
public protocol SIPElement: AnyObject {
    /// Exchanges the messages to send for an empty list, whose buffer is reused; false when there are none.
    func exchangeOutgoing(for list: inout [OutgoingMessage]) -> Bool
    /// The time of the next `fireTimers` in monotonic milliseconds; nil when no timer runs.
    var nextDeadline: UInt64? { get }
    /// Takes one received message; its bytes are valid until this returns.
    func receive(_ bytes: Span<UInt8>, by flow: consuming Flow, at now: Moment)
    /// The filling of the receive queue, set before a batch of messages is read from it.
    ///
    /// 1 is full by the gateway's measure; the kernel may hold some more.
    var filling: Double { get set }
    /// Whether the messages that are received now may have waited while the process did not run.
    var followsPause: Bool { get set }
    /// Counts a datagram that the kernel cut or could not send.
    func record(_ trouble: TransportTrouble)
    /// Handles a message that could not be delivered.
    func sendFailed(_ token: DeliveryToken, at now: Moment)
    /// Handles a datagram that an ICMP message returned (RFC 3261 §18.4); the bytes are the returned part of it.
    func cameBack(_ bytes: Span<UInt8>, at now: Moment)
    /// Runs every timer that is due.
    func fireTimers(at now: Moment)
}

extension SIPElement {
    public func cameBack(_ bytes: Span<UInt8>, at now: Moment) {}
}

/// A fault of the transport, reported to the element because no SIP message shows it.
public enum TransportTrouble: Hashable, Sendable {
    /// A received datagram was larger than the buffer and is lost.
    case truncated
    /// The kernel refused to send; the error number. Transactions retransmit or time out.
    case unsent(errno: Int32)
}
