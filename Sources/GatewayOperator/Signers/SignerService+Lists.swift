// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import GatewayStore
import GatewaySync
import Logging
import Primitives

extension SignerService {
    /// A list with an address at one moment.
    struct ListFigures: Equatable, Sendable {
        let list: ListAddress
        let state: StoredListFetch
    }

    /// The lists with an address, in the order of the regimes.
    var listFigures: [ListFigures] {
        lists.lists.map { ListFigures(list: $0, state: lists.state(of: $0.address)) }
    }

    /// Seconds between two looks for due lists.
    private static let listPause: Int64 = 30

    /// Orders the lists that are due. They need no call and no `fetch: on`: the operator has named their addresses.
    func orderLists(at now: Int64) async {
        guard !lists.lists.isEmpty, now - listsOrderedAt >= Self.listPause else { return }
        if lists.states == nil {
            // The publisher reports a file that cannot be read. A new one comes with the decision of the start.
            guard let reader = try? SignerReader(folder: folder), let stored = try? await reader.listFetches() else {
                return
            }
            lists.begin(stored: stored)
        }
        listsOrderedAt = now
        for list in lists.due(at: time.now()) { fetches?.order(list) }
    }

    /// Fetches a list, takes it in and stores the state of its address.
    ///
    /// - Parameter failure: the last failure of a host that is skipped; nil for a fetch.
    func carryOutList(_ order: FetchQueue.Order, skipped failure: FetchFailure?) async {
        defer { running[order.address] = nil }
        guard let fetch = fetches?.fetch, let list = lists.list(at: order.address) else { return }
        let refresh = ListRefresh(list: list, settings: settings, folder: folder, time: time)
        let (known, changes) = (lists.state(of: order.address), lists.changes)
        let outcome =
            if let failure { refresh.skipped(failure, since: known) } else { await refresh.run(fetch, since: known) }
        guard !Task.isCancelled else { return }
        lists.take(outcome, since: changes)
        report(outcome, of: list)
        do {
            try await opened().record(outcome.state)
        } catch {
            warnings.log("the state of a fetched list cannot be stored, and a restart fetches it again: \(error)")
        }
        if outcome.change != nil { publisher.changed() }
        fetches?.queue.finish(order, outcome.failure, wasSkipped: failure != nil, at: time.steady())
        startFetches()
    }

    /// Logs a new list, the first failure of an address, and the first one with the longest pause.
    private func report(_ outcome: ListRefresh.Outcome, of list: ListAddress) {
        if let change = outcome.change {
            logger.notice("\(change)", metadata: ["address": "\(TerminalText.visible(list.address))"])
        }
        let attempts = outcome.state.attempts
        guard !outcome.state.reason.isEmpty, attempts == 1 || attempts == 4 else { return }
        warnings.log(
            "\(list.title) is not refreshed: \(outcome.state.reason); the stored one stays in use, and herald trust import "
                + "takes in another one")
    }
}
