// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore
import Synchronization

/// Shares the connections of a server between its clients.
///
/// One client may use all of them while no other needs one. When all are in use, a client with fewer connections gets the
/// place of the oldest one of the client with most. A client is an IPv4 address or an IPv6 network of 64 bits. Any thread.
final class FairConnections: Sendable {
    private struct Connection {
        let id: ObjectIdentifier
        let close: @Sendable () -> Void
    }

    private struct State {
        /// Oldest first.
        var open: [[UInt8]: [Connection]] = [:]
        var count = 0
        var loggedAt: NIODeadline?
    }

    private let most: Int
    private let key: String
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - most: connections of all clients.
    ///   - key: the configuration key of the server, such as `logos.listen`.
    init(_ most: Int, key: String, logger: Logger) {
        (self.most, self.key, self.logger) = (most, key, logger)
    }

    /// Counts a connection; false if it must be closed.
    func enter(_ client: [UInt8], _ id: ObjectIdentifier, close: @escaping @Sendable () -> Void) -> Bool {
        let (isTaken, displaced): (Bool, Connection?) = state.withLock { state in
            var displaced: Connection?
            if state.count >= most {
                let own = state.open[client]?.count ?? 0
                guard let holder = state.open.max(by: { $0.value.count < $1.value.count }),
                    holder.value.count > own + 1
                else { return (false, nil) }
                displaced = state.open[holder.key]?.removeFirst()
                state.count -= 1
            }
            state.open[client, default: []].append(Connection(id: id, close: close))
            state.count += 1
            return (true, displaced)
        }
        displaced?.close()
        if displaced != nil || !isTaken { recordShortage() }
        return isTaken
    }

    /// Ends the count of a connection.
    func leave(_ client: [UInt8], _ id: ObjectIdentifier) {
        state.withLock { state in
            guard let place = state.open[client]?.firstIndex(where: { $0.id == id }) else { return }
            state.open[client]?.remove(at: place)
            if state.open[client]?.isEmpty == true { state.open[client] = nil }
            state.count -= 1
        }
    }

    /// Connections of all clients.
    var count: Int { state.withLock { $0.count } }

    /// Logs that all connections are in use, at most once a minute.
    private func recordShortage(now: NIODeadline = .now()) {
        let isNews = state.withLock { state in
            if let last = state.loggedAt, now < last + .seconds(60) { return false }
            state.loggedAt = now
            return true
        }
        guard isNews else { return }
        logger.warning(
            """
            all \(most) connections of \(key) are in use; the client with most of them loses its oldest one to another \
            client. See who holds them with `ss -tnp`
            """)
    }
}

extension FairConnections {
    /// Gives a connection its place, and closes it after a time, so that an idle peer does not hold it longer.
    func handler(lifetime: TimeAmount) -> ConnectionPlace {
        ConnectionPlace { [self] client, channel in
            let id = ObjectIdentifier(channel)
            guard enter(client, id, close: { channel.close(promise: nil) }) else { return nil }
            return ConnectionPlace.Stay(lifetime: lifetime) { [self] in leave(client, id) }
        }
    }
}
