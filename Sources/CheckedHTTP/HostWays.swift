// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient

/// The HTTP clients of a `CheckedPost`: one for each host, with the address that was checked last.
struct HostWays {
    private struct Way {
        let http: HTTPClient
        let target: HostAddress
        var checkedAt: ContinuousClock.Instant
        var users: Int
    }

    private var open: [String: Way] = [:]
    /// Clients of former addresses that requests in progress still use.
    private var leaving: [Way] = []
    private var isClosed = false

    /// The client of a host whose address was checked within the lifetime; nil without one.
    mutating func use(_ host: String, at now: ContinuousClock.Instant, lifetime: Duration) -> HTTPClient? {
        guard let way = open[host], way.checkedAt.duration(to: now) < lifetime else { return nil }
        open[host]?.users += 1
        return way.http
    }

    /// The client of a host at an address that has just been checked, and clients to shut down.
    ///
    /// The client is nil after `close`.
    mutating func use(
        _ host: String, at target: HostAddress, now: ContinuousClock.Instant, most: Int, make: () -> HTTPClient
    ) -> (http: HTTPClient?, unused: [HTTPClient]) {
        guard !isClosed else { return (nil, []) }
        if let way = open[host], way.target == target {
            open[host]?.checkedAt = now
            open[host]?.users += 1
            return (way.http, [])
        }
        var unused: [HTTPClient] = []
        if let former = open.removeValue(forKey: host) {
            if former.users == 0 { unused.append(former.http) } else { leaving.append(former) }
        }
        let idle = open.filter { $0.value.users == 0 }.sorted { $0.value.checkedAt < $1.value.checkedAt }
        for (name, way) in idle.prefix(max(0, open.count + 1 - most)) {
            open[name] = nil
            unused.append(way.http)
        }
        let http = make()
        open[host] = Way(http: http, target: target, checkedAt: now, users: 1)
        return (http, unused)
    }

    /// Ends one use of a client. Returns the client if it must be shut down.
    mutating func release(_ http: HTTPClient, of host: String) -> HTTPClient? {
        if open[host]?.http === http {
            open[host]?.users -= 1
            return nil
        }
        guard let place = leaving.firstIndex(where: { $0.http === http }) else { return nil }
        leaving[place].users -= 1
        return leaving[place].users == 0 ? leaving.remove(at: place).http : nil
    }

    /// Returns all clients to shut down; no host has a client afterwards.
    mutating func close() -> [HTTPClient] {
        isClosed = true
        defer { (open, leaving) = ([:], []) }
        return open.values.map(\.http) + leaving.map(\.http)
    }
}
