// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import NIOCore
import Synchronization

/// Limits the connections of each client, so that one client cannot take those of the others.
///
/// A client is an IPv4 address or an IPv6 network of 64 bits. Beyond the limits it still gets a few short connections
/// for `/healthz` and `/readyz`. A monitor must not take a busy port for a dead gateway. Any thread.
final class ConnectionShares: Sendable {
    /// Limits of number and lifetime.
    struct Limits: Sendable {
        /// Connections of all clients.
        var all = 64
        /// Connections of one client.
        var client = 16
        /// Short connections beside these, of all clients and of one.
        var reserve = 16
        var clientReserve = 4
        /// Lifetime of a short connection.
        var reserveLife = TimeAmount.seconds(5)

        /// More than are ever open at once; connections without a share are closed at once.
        var most: Int { all + reserve + 16 }
    }

    /// The permitted use of a connection.
    enum Share: Hashable {
        case whole
        /// `/healthz` and `/readyz`, for a short time.
        case health
        /// No request at all.
        case none
    }

    private struct State {
        var whole: [[UInt8]: Int] = [:]
        var health: [[UInt8]: Int] = [:]
        var wholeCount = 0
        var healthCount = 0
        /// The connections restricted to health checks.
        var restricted: Set<ObjectIdentifier> = []
        var loggedAt: NIODeadline?
        var refused = 0
    }

    let limits: Limits
    private let key: String
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter key: the configuration key of the server, such as `admin.listen`.
    init(_ limits: Limits = Limits(), key: String, logger: Logger) {
        self.limits = limits
        self.key = key
        self.logger = logger
    }

    /// Returns the share of a new connection.
    ///
    /// `leave` releases it.
    ///
    /// - Parameter connection: the channel of the connection.
    func enter(_ client: [UInt8], _ connection: ObjectIdentifier) -> Share {
        state.withLock { state in
            if state.whole[client, default: 0] < limits.client, state.wholeCount < limits.all {
                state.whole[client, default: 0] += 1
                state.wholeCount += 1
                return .whole
            }
            guard state.health[client, default: 0] < limits.clientReserve, state.healthCount < limits.reserve else {
                return .none
            }
            state.health[client, default: 0] += 1
            state.healthCount += 1
            state.restricted.insert(connection)
            return .health
        }
    }

    func leave(_ client: [UInt8], _ connection: ObjectIdentifier, _ share: Share) {
        func drop(_ counts: inout [[UInt8]: Int], _ total: inout Int) {
            let rest = counts[client, default: 1] - 1
            counts[client] = rest > 0 ? rest : nil
            total -= 1
        }
        state.withLock { state in
            switch share {
            case .whole: drop(&state.whole, &state.wholeCount)
            case .health:
                drop(&state.health, &state.healthCount)
                state.restricted.remove(connection)
            case .none: break
            }
        }
    }

    /// True if a connection may request only `/healthz` and `/readyz`.
    func isForHealthAlone(_ connection: ObjectIdentifier) -> Bool {
        state.withLock { $0.restricted.contains(connection) }
    }

    /// Logs a restricted or refused connection, at most once a minute.
    func recordShortage(_ address: SocketAddress?, now: NIODeadline = .now()) {
        let count: Int? = state.withLock { state in
            state.refused += 1
            if let last = state.loggedAt, now < last + .seconds(60) { return nil }
            state.loggedAt = now
            defer { state.refused = 0 }
            return state.refused
        }
        guard let count else { return }
        logger.warning(
            """
            a client holds all the connections it may have, or all are in use; only /healthz and /readyz are open to it until some \
            are closed. See who holds them with `ss -tnp`
            """,
            metadata: [
                "server": "\(key)", "client": "\(address?.ipAddress ?? "unknown")", "connections": "\(count)",
            ])
    }

    /// The client of an address: an IPv4 address, or an IPv6 network of 64 bits.
    static func client(_ address: SocketAddress?) -> [UInt8] {
        switch address {
        case .v4(let address): withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address): withUnsafeBytes(of: address.address.sin6_addr) { Array($0.prefix(8)) }
        case .unixDomainSocket, nil: []
        }
    }
}

extension ConnectionShares {
    /// Enforces the share of a connection.
    var handler: ConnectionPlace {
        ConnectionPlace { [self] client, channel in
            let id = ObjectIdentifier(channel)
            let share = enter(client, id)
            if share != .whole { recordShortage(channel.remoteAddress) }
            guard share != .none else { return nil }
            return ConnectionPlace.Stay(lifetime: share == .whole ? nil : limits.reserveLife) { [self] in
                leave(client, id, share)
            }
        }
    }
}
