// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SIPCore

/// The proxy core of RFC 3261 §16 between trunks and PBXs, over one shard of the transactions.
///
/// One worker at a time uses it, under the lock of its shard. Nothing in it waits. Its extensions are the steps of the
/// walk: `RequestWalk.swift`, `ResponseWalk.swift`, `Forwarding.swift`, `NextHopChoice.swift`, `Targets.swift`.
final class ProxyCore {
    let shared: GatewayShared
    let transactions: ProxyTransactions<ProxyCore>
    /// Names calls by the secret of the settings.
    private(set) var reporter: CallReporter
    /// The settings of the message being handled.
    private(set) var settings: GatewaySettings
    /// The sender of the response being handled if its only Via is the gateway's.
    var sourceWithoutVia: Flow?
    /// How many shards there are.
    let shardCount: Int
    /// Swapped as a whole.
    private var spareSplices = Splices()

    init(shared: GatewayShared, capacity: Int, of shardCount: Int, now: Moment) {
        self.shared = shared
        self.shardCount = shardCount
        let settings = shared.settings.load()
        self.settings = settings
        transactions = ProxyTransactions(timers: settings.timers, capacity: capacity, now: now)
        reporter = CallReporter(updates: shared.updates, calls: shared.calls, secret: settings.secret)
        transactions.user = self
    }

    var branding: CurrentBranding { shared.branding }
    var counters: GatewayCounters { shared.counters }

    /// Runs `body` with an empty list of edits, whose buffers are reused; a nested call gets a new list.
    func withSplices<Result: ~Copyable>(_ body: (inout Splices) -> Result) -> Result {
        var splices = Splices()
        swap(&splices, &spareSplices)
        defer {
            splices.clear()
            swap(&splices, &spareSplices)
        }
        return body(&splices)
    }

    /// Uses settings for the next message, and their timers for transactions that it begins.
    func use(_ next: GatewaySettings) {
        guard next !== settings else { return }
        settings = next
        reporter = CallReporter(updates: shared.updates, calls: shared.calls, secret: next.secret)
        transactions.timing = next.timers
    }
}
