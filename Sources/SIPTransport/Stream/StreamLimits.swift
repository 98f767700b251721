// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// Limits of connections, memory and time for TCP and TLS.
public struct StreamLimits: Sendable {
    /// Connections in both directions.
    public var connections = 10_000
    /// A tenth of them: the limit for unknown peers, and the reserve for the gateway's outgoing connections.
    var reserved: Int { min(max(1, connections / 10), connections - 1) }
    /// Accepted connections per IPv4 address or IPv6 /64.
    public var connectionsPerSource = 200
    /// Idle time before a connection is closed.
    public var idle = Duration.seconds(600)
    /// Longest time for one message, and for a TLS handshake.
    public var unfinished = Duration.seconds(10)
    /// Time limit for establishing a TCP connection.
    public var connect = Duration.seconds(4)
    /// Limit of bytes that wait to be written to one connection. Above it, the connection is closed.
    public var waiting = 1 << 20
    /// Limit of bytes that wait until a connection is usable, after its TLS handshake. Further bytes are not delivered.
    public var early = 16 << 20
    /// Limit of the bytes that all connections hold. Above it, the connections that hold most are closed.
    public var memory = 1 << 30
    /// Largest message in bytes.
    public var largestMessage = 65_535

    public init() {}
}

/// Counters of stream events, for metrics. Any thread.
public final class StreamCounters: Sendable {
    /// The counted events.
    public enum Event: Int, CaseIterable, Sendable {
        case accepted, refused, connected, connectFailed, closedIdle, closedUnfinished, closedBroken, closedFull
        case closedMemory
        case handshakesFailed
    }

    private final class Count: Sendable {
        let value = Atomic<UInt64>(0)
    }

    private let counts = Event.allCases.map { _ in Count() }
    private let open = Atomic<Int>(0)
    private let held = Atomic<Int>(0)

    public init() {}

    func add(_ event: Event) { counts[event.rawValue].value.add(1, ordering: .relaxed) }
    func setOpen(_ count: Int) { open.store(count, ordering: .relaxed) }
    func setHeld(_ bytes: Int) { held.store(bytes, ordering: .relaxed) }

    /// Returns the count of an event since the start.
    public func count(_ event: Event) -> UInt64 { counts[event.rawValue].value.load(ordering: .relaxed) }

    /// Open connections.
    public var openConnections: Int { open.load(ordering: .relaxed) }

    /// Bytes that all connections hold.
    public var heldBytes: Int { held.load(ordering: .relaxed) }
}

extension Duration {
    /// The duration in the event loops' type.
    var timeAmount: TimeAmount {
        .nanoseconds(components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000)
    }
}
