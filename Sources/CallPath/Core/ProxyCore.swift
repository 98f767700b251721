// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SIPCore

/// The rules between trunk and PBX over one shard of the transactions: tells calls apart and lets each walk its way.
///
/// Used by one worker at a time, under its shard's lock; nothing in it waits.
final class SIPGateway {
    let shared: GatewayShared
    let transactions: ProxyTransactions<SIPGateway>
    let reporter: CallReporter
    /// The settings of the message being handled.
    var settings: GatewaySettings
    private var spareSplices = Splices()

    init(shared: GatewayShared, capacity: Int, now: Moment) {
        self.shared = shared
        let settings = shared.settings.load()
        self.settings = settings
        transactions = ProxyTransactions(timers: settings.timers, capacity: capacity, now: now)
        reporter = CallReporter(signals: shared.signals, calls: shared.calls, secret: settings.secret)
        transactions.user = self
    }

    var branding: CurrentBranding { shared.branding }
    var counters: GatewayCounters { shared.counters }

    /// Works with an empty list of edits whose room was used before; one inside another gets room of its own.
    func withSplices<Result>(_ body: (inout Splices) -> Result) -> Result {
        var splices = Splices()
        swap(&splices, &spareSplices)
        defer {
            splices.clear()
            swap(&splices, &spareSplices)
        }
        return body(&splices)
    }

    func fireTimers(at now: Moment) {
        settings = shared.settings.load()
        transactions.fireTimers(at: now)
    }

    func sendFailed(_ token: DeliveryToken, at now: Moment) {
        settings = shared.settings.load()
        transactions.sendFailed(token, at: now)
    }
}
