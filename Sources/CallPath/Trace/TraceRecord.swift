// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallAccounting
package import SIPCore

/// A message or a decision as the call path copied it for a trace.
package struct TraceRecord: Sendable {
    /// The kind of a record.
    package enum Kind: UInt8, Sendable {
        /// A message that arrived, also one that is rejected or dropped afterwards.
        case received
        /// A message on its way to a socket.
        case sent
        /// The branding decision on an INVITE of a trunk.
        case decided
    }

    package var kind = Kind.received
    /// Wall clock in microseconds since 1970.
    package var wallMicroseconds: Int64 = 0
    /// Monotonic clock of the same moment.
    package var milliseconds: UInt64 = 0
    /// The far end of a message.
    package var address = PeerAddress(ipv4: 0, port: 0)
    /// Position of the local socket.
    package var socket = 0
    /// The stream connection; 0 for datagrams.
    package var connection: UInt64 = 0
    /// The number of the configured peer with this certificate, 0 for an unknown peer; nil if the address decides.
    package var certified: UInt64?
    /// Bytes of the whole message; more than `bytes` holds if the message was cut.
    package var length = 0
    /// The message; of a decision the Call-ID.
    package var bytes: [UInt8] = []
    /// The name of the brand; empty without one.
    package var brand: [UInt8] = []
    package var decision = TracedDecision()

    package init() {}
}

/// A branding decision with its evidence.
package struct TracedDecision: Hashable, Sendable {
    /// Nil if the call gets a brand.
    package var reason: PassThroughReason?
    /// The caller's number; nil if withheld or not certain.
    package var caller: E164Number?
    /// The findings of the walk.
    package var evidence = DecisionEvidence()

    package init() {}
}
