// SPDX-License-Identifier: Apache-2.0

public import Branding
public import CallAccounting
public import SIPCore

/// A message or a decision as the call path copied it for a trace.
public struct TraceRecord: Sendable {
    /// The kind of a record.
    public enum Kind: UInt8, Sendable {
        /// A message that arrived, also one that is rejected or dropped afterwards.
        case received
        /// A message on its way to a socket.
        case sent
        /// The branding decision on an INVITE of a trunk.
        case decided
    }

    public var kind = Kind.received
    /// Wall clock in microseconds since 1970.
    public var wallMicroseconds: Int64 = 0
    /// Monotonic clock of the same moment.
    public var milliseconds: UInt64 = 0
    /// The far end of a message.
    public var address = PeerAddress(ipv4: 0, port: 0)
    /// Position of the local socket.
    public var socket = 0
    /// The stream connection; 0 for datagrams.
    public var connection: UInt64 = 0
    /// The number of the configured peer with this certificate, 0 for an unknown peer; nil if the address decides.
    public var certified: UInt64?
    /// Bytes of the whole message; more than `bytes` holds if the message was cut.
    public var length = 0
    /// The message; of a decision the Call-ID.
    public var bytes: [UInt8] = []
    /// The name of the brand; empty without one.
    public var brand: [UInt8] = []
    public var decision = TracedDecision()

    public init() {}
}

/// A branding decision with its evidence.
public struct TracedDecision: Hashable, Sendable {
    /// Nil if the call gets a brand.
    public var reason: PassThroughReason?
    /// The caller's number; nil if withheld or not certain.
    public var caller: E164Number?
    /// The findings of the walk.
    public var evidence = DecisionEvidence()
    /// The verdict on signed header fields; nil for a call that was not verified.
    public var signature: TracedSignature?

    public init() {}
}
