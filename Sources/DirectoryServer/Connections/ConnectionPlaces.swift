// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore
import Synchronization

/// Limits the connections of one listening address, in total and per client address.
///
/// Above the total limit, a small reserve accepts health checks: such a connection serves one request for `/healthz`.
/// Thread-safe.
final class ConnectionPlaces: Sendable {
    /// The permitted use of a connection.
    enum Place: Hashable {
        case usual
        /// For one health check.
        case reserve
        case none
    }

    /// Connections beyond `most` that are accepted, for health checks.
    static let reserve = 16
    /// Seconds between two log lines.
    private static let pause: Int64 = 60

    private struct State {
        var usual = 0
        var reserved = 0
        var clients: [ClientAddress: Int] = [:]
        /// Connections closed since the last log line.
        var refused = 0
        /// Time of the last log line, in seconds since 1970.
        var lastLine: Int64?
    }

    private let most: Int
    private let perClient: Int
    private let exemptsLoopback: Bool
    private let now: @Sendable () -> Int64
    private let counters: ServerCounters
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - perClient: connections per client address; 0 means no limit.
    ///   - exemptsLoopback: true if a reverse proxy on this machine serves many clients.
    ///   - now: seconds since 1970.
    init(
        most: Int, perClient: Int, exemptsLoopback: Bool, now: @escaping @Sendable () -> Int64,
        counters: ServerCounters = ServerCounters(), logger: Logger
    ) {
        self.counters = counters
        self.most = most
        self.perClient = perClient
        self.exemptsLoopback = exemptsLoopback
        self.now = now
        self.logger = logger
    }

    /// Reserves a place for a connection of a peer.
    func take(_ peer: SocketAddress?) -> Place {
        let client = ClientAddress(peer: peer)
        let isBound = perClient > 0 && !(exemptsLoopback && ClientAddress.isLoopback(peer))
        let (place, refused) = state.withLock { state -> (Place, Int?) in
            if isBound, state.clients[client, default: 0] >= perClient { return (.none, countRefusal(&state)) }
            let place: Place =
                state.usual < most ? .usual : state.reserved < Self.reserve ? .reserve : .none
            if place == .usual { state.usual += 1 }
            if place == .reserve { state.reserved += 1 }
            if place != .none { state.clients[client, default: 0] += 1 }
            return (place, nil)
        }
        if place == .none { counters.addRefusedConnection() } else { counters.addConnections(1) }
        if let refused {
            logger.warning(
                "connections refused: their address reached connections_per_client",
                metadata: [
                    "address": "\(peer?.ipAddress ?? "unknown")", "held": "\(perClient)", "closed": "\(refused)",
                ])
        }
        return place
    }

    /// Releases the place of a closed connection.
    func giveBack(_ place: Place, of peer: SocketAddress?) {
        if place != .none { counters.addConnections(-1) }
        let client = ClientAddress(peer: peer)
        state.withLock { state in
            switch place {
            case .usual: state.usual -= 1
            case .reserve: state.reserved -= 1
            case .none: return
            }
            let left = state.clients[client, default: 1] - 1
            state.clients[client] = left > 0 ? left : nil
        }
    }

    /// The count of addresses with connections.
    var clients: Int { state.withLock { $0.clients.count } }

    /// Counts a refused connection; returns the count when a log line is due.
    private func countRefusal(_ state: inout State) -> Int? {
        state.refused += 1
        let now = now()
        // A clock that was set back also makes a line due.
        if let lastLine = state.lastLine, lastLine <= now, now < lastLine + Self.pause { return nil }
        defer { (state.refused, state.lastLine) = (0, now) }
        return state.refused
    }
}
