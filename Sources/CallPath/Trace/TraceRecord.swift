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

    package let kind: Kind
    /// Wall clock in microseconds since 1970.
    package let wallMicroseconds: Int64
    /// The far end of a message.
    package let address: PeerAddress
    /// Position of the local socket.
    package let socket: Int
    /// The stream connection; 0 for datagrams.
    package let connection: UInt64
    /// The number of the configured peer at the far end; 0 for an unknown peer.
    package let peer: UInt64
    /// Bytes of the whole message; more than `bytes` holds if the message was cut.
    package let length: Int
    /// The message; of a decision the Call-ID.
    package let bytes: [UInt8]
    /// The name of the brand; empty without one.
    package let brand: [UInt8]
    package let decision: TracedDecision
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
