// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// What peers on TCP and TLS can make the gateway hold, and for how long.
package struct StreamLimits: Sendable {
    /// Connections in all, both directions.
    package var connections = 10_000
    /// A tenth of them: as many strangers may hold, and as many are left for connections the gateway makes itself.
    var reserved: Int { min(max(1, connections / 10), connections - 1) }
    /// Connections accepted from one IPv4 address or one IPv6 network of 64 bits.
    package var connectionsPerSource = 200
    /// After so long without a byte a connection is closed.
    package var idle = Duration.seconds(600)
    /// A message that has begun must be complete after so long, a TLS handshake too.
    package var unfinished = Duration.seconds(10)
    package var connect = Duration.seconds(4)
    /// Bytes that may wait to be written to one connection; above, it is closed.
    package var waiting = 1 << 20
    /// Bytes that may wait for a connection to come about, its TLS handshake included; what is above is not delivered.
    package var early = 16 << 20
    package var largestMessage = 65_535

    package init() {}
}

/// What happens on streams, for metrics; any thread.
package final class StreamCounters: Sendable {
    /// What is counted.
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

    /// How often something happened since the start.
    package func count(_ event: Event) -> UInt64 { counts[event.rawValue].value.load(ordering: .relaxed) }

    /// Connections that are open.
    package var openConnections: Int { open.load(ordering: .relaxed) }
}

extension Duration {
    /// The duration as event loops take it.
    var timeAmount: TimeAmount {
        .nanoseconds(components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000)
    }
}
