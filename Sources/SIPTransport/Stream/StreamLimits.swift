// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// Limits of TCP and TLS connections.
package struct StreamLimits: Sendable {
    /// Connections in both directions.
    package var connections = 10_000
    /// 10 % of the connections: the limit for unknown peers, and the reserve for outgoing connections.
    var reserved: Int { min(max(1, connections / 10), connections - 1) }
    /// Accepted connections per IPv4 address or IPv6 /64.
    package var connectionsPerSource = 200
    /// Time without data after which a connection is closed.
    package var idle = Duration.seconds(600)
    /// Time limit of an incomplete message or TLS handshake.
    package var unfinished = Duration.seconds(10)
    /// Time limit for establishing a TCP connection.
    package var connect = Duration.seconds(4)
    /// Limit of unsent bytes per connection.
    ///
    /// A connection above it is closed.
    package var waiting = 1 << 20
    /// Limit of bytes queued for a connection that is not yet established.
    ///
    /// Messages above it are not delivered.
    package var early = 16 << 20
    /// Largest message in bytes.
    package var largestMessage = 65_535

    package init() {}
}

/// Counters of stream events, for metrics.
///
/// Thread-safe.
package final class StreamCounters: Sendable {
    /// A counted event.
    package enum Event: Int, CaseIterable, Sendable {
        case accepted, refused, connected, connectFailed, closedIdle, closedUnfinished, closedBroken, closedFull
        case handshakesFailed
    }

    private final class Count: Sendable {
        let value = Atomic<UInt64>(0)
    }

    private let counts = Event.allCases.map { _ in Count() }
    private let open = Atomic<Int>(0)

    package init() {}

    func add(_ event: Event) { counts[event.rawValue].value.add(1, ordering: .relaxed) }
    func setOpen(_ count: Int) { open.store(count, ordering: .relaxed) }

    /// Returns the count since the start.
    package func count(_ event: Event) -> UInt64 { counts[event.rawValue].value.load(ordering: .relaxed) }

    /// The number of open connections.
    package var openConnections: Int { open.load(ordering: .relaxed) }
}

extension Duration {
    /// The duration in NIO's type.
    var timeAmount: TimeAmount {
        .nanoseconds(components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000)
    }
}
