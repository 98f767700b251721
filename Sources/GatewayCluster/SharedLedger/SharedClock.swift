// SPDX-License-Identifier: Apache-2.0

import Host
import PostgreSQL

/// PostgreSQL's clock as this gateway knows it.
///
/// Times travel as those of PostgreSQL's clock, so gateways may have any. A statement may wait for seconds at a server that is
/// frozen or at a lock. The time of its run is not the time of its facts then, so times are converted by the shortest
/// exchange. Microseconds; one thread.
final class SharedClock {
    /// The largest error that needs no further exchange.
    static let goodError: Int64 = 100_000
    /// Exchanges after a new connection, until one is short.
    private static let attempts = 5
    /// Time between two measurements of a server that is always slow.
    private static let pause: Int64 = 10_000_000
    /// The server's clock in microseconds since 1970, when the statement runs.
    static let serverTime = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

    private var estimate = ClockEstimate()
    private var measuredAt: Int64?
    private var connections = 0
    private let steady: () -> Int64

    /// - Parameter steady: microseconds of the monotonic clock.
    init(steady: @escaping () -> Int64 = { SteadyClock.microseconds }) { self.steady = steady }

    /// The server's present time, in microseconds since 1970; measured first where it is not known well.
    func now(_ session: PostgreSQLSession) throws(PostgreSQLError) -> Int64 {
        // A connection takes time, which is no part of an exchange.
        try session.connect()
        if !isKnown(session) { try measure(session) }
        return steady() + (estimate.offset ?? 0)
    }

    /// Takes in the server's time from an exchange that began at a time of the monotonic clock.
    func measure(_ server: Int64?, sent: Int64) {
        if let server { estimate.measure(server, sent: sent, received: steady()) }
    }

    /// Microseconds of the monotonic clock, for the begin of an exchange.
    var begin: Int64 { steady() }

    private func isKnown(_ session: PostgreSQLSession) -> Bool {
        // Another connection may lead to another server.
        guard session.connections == connections, let measuredAt, let error = estimate.error(at: steady()) else {
            return false
        }
        return error <= Self.goodError || steady() - measuredAt < Self.pause
    }

    private func measure(_ session: PostgreSQLSession) throws(PostgreSQLError) {
        for _ in 0..<Self.attempts {
            let sent = steady()
            let row = try session.execute("SELECT \(Self.serverTime)").first
            let took = steady() - sent
            measure(try? row?.integer(0), sent: sent)
            if took <= 2 * Self.goodError { break }
        }
        (connections, measuredAt) = (session.connections, steady())
    }
}
