// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore
import Synchronization

/// The zone, its clients, and how often they may ask.
package struct NumberZoneRules: Sendable {
    package var zone: NumberZone
    /// Clients; queries of other sources get no response.
    package var allowed: AllowedClients
    /// Queries a second of one source.
    package var rate: Int

    package init(zone: NumberZone, allowed: AllowedClients, rate: Int) {
        (self.zone, self.allowed, self.rate) = (zone, allowed, rate)
    }
}

/// Takes queries of all sockets and decides which ones get a response. Any thread.
final class NumberZoneReception: Sendable {
    private struct State {
        /// Of datagrams, whose sources may be forged.
        var rates: SourceRates
        /// Of connections, so that forged datagrams use up nothing of a client's.
        var connectionRates: SourceRates
        var connections: [[UInt8]: Int] = [:]
        var open = 0
    }

    /// Limits of TCP.
    enum Limit {
        static let connections = 64
        static let connectionsOfSource = 16
    }

    let counters: NumberZoneCounters
    private let rules: NumberZoneRules
    private let state: Mutex<State>
    private let warnings: RejectionLog<Warning>

    init(_ rules: NumberZoneRules, counters: NumberZoneCounters, logger: Logger) {
        let rates = SourceRates(perSecond: rules.rate)
        state = Mutex(State(rates: rates, connectionRates: rates))
        (self.rules, self.counters, warnings) = (rules, counters, RejectionLog(logger))
    }

    /// The response to a datagram; nil for none.
    func response(to datagram: [UInt8], from client: SocketAddress) -> (bytes: [UInt8], destination: SocketAddress)? {
        let source = AllowedClients.bytes(of: client)
        // Port 0 cannot get a response.
        guard client.port != 0, allows(source) else { return nil }
        let message = DNSMessage(datagram)
        guard message != .ignored else {
            counters.add(.ignored)
            return nil
        }
        let verdict = state.withLock { $0.rates.take(source, at: Self.microseconds()) }
        if verdict != .granted { warnings.add(.limit, of: source) }
        guard verdict != .dropped else {
            counters.add(.dropped)
            return nil
        }
        return count(rules.zone.reply(to: message, isLimited: verdict == .reduced)).map { ($0, client) }
    }

    /// The response to a message of a connection; nil if the connection must be closed.
    ///
    /// A source cannot be forged here, so a limit closes the connection, and nothing is truncated.
    func reply(over connection: [UInt8], to message: [UInt8]) -> [UInt8]? {
        guard allows(connection) else { return nil }
        let verdict = state.withLock { $0.connectionRates.take(connection, at: Self.microseconds()) }
        guard verdict == .granted else {
            counters.add(.dropped)
            warnings.add(.limit, of: connection)
            return nil
        }
        let reply = count(rules.zone.reply(to: DNSMessage(message)))
        if reply == nil { counters.add(.ignored) }
        return reply
    }

    private func count(_ reply: NumberZone.Reply?) -> [UInt8]? {
        if let reply { counters.add(.outcome(reply.outcome)) }
        return reply?.bytes
    }

    private func allows(_ source: [UInt8]) -> Bool {
        if rules.allowed.contain(source) { return true }
        counters.add(.foreign)
        warnings.add(.foreign, of: source)
        return false
    }

    // MARK: Connections

    /// Counts a connection; false if it must be closed.
    func enter(_ source: [UInt8]) -> Bool {
        guard allows(source) else { return false }
        let isTaken = state.withLock { state in
            guard state.open < Limit.connections,
                state.connections[source, default: 0] < Limit.connectionsOfSource
            else { return false }
            state.open += 1
            state.connections[source, default: 0] += 1
            return true
        }
        if !isTaken { warnings.add(.connections, of: source) }
        return isTaken
    }

    func leave(_ source: [UInt8]) {
        state.withLock { state in
            state.open -= 1
            let rest = state.connections[source, default: 1] - 1
            state.connections[source] = rest > 0 ? rest : nil
        }
    }

    // MARK: Log

    private enum Warning: RejectionCause {
        case foreign, limit, connections

        var text: String {
            switch self {
            case .foreign:
                """
                a query for calling names was dropped: no range of doors.enum.allow has its source; add it if it is your client's
                """
            case .limit:
                """
                a source sends more queries for calling names than doors.enum.rate allows; raise it if they are your client's
                """
            case .connections:
                """
                a connection for calling names was closed: all that are allowed are open; see who holds them with `ss -tnp`
                """
            }
        }
    }

    /// Microseconds of the monotonic clock.
    private static func microseconds() -> UInt64 { NIODeadline.now().uptimeNanoseconds / 1_000 }
}

extension NumberZoneReception: DatagramReception {
    func countUnsent() { counters.add(.unsent) }
}
