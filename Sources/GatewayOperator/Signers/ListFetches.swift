// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayStore
import GatewaySync

/// The lists with an address, and the states of their fetches. For one task.
struct ListFetches {
    let lists: [ListAddress]
    /// By address; nil until the stored ones were read.
    private(set) var states: [String: StoredListFetch]?
    /// Fetches by their result since the start.
    private(set) var counts: [String: UInt64] = [:]
    /// Fetched lists that have changed something since the start.
    private(set) var changes = 0

    init(_ regimes: [ConfiguredRegime]) { lists = ListAddress.all(of: regimes) }

    /// Begins with the stored states.
    mutating func begin(stored: [String: StoredListFetch]) { states = stored }

    /// The list at an address.
    func list(at address: String) -> ListAddress? { lists.first { $0.address == address } }

    /// The state of an address; a new one before its first fetch.
    func state(of address: String) -> StoredListFetch { states?[address] ?? StoredListFetch(address: address) }

    /// Lists whose next fetch is due; none before the stored states were read.
    ///
    /// - Parameter now: seconds since 1970. A time that no pause reaches is that of another clock.
    func due(at now: Int64) -> [ListAddress] {
        guard states != nil else { return [] }
        return lists.filter { list in
            let next = state(of: list.address).nextAt
            return next <= now || next > now + FetchTimes.day
        }
    }

    /// Takes the result of a fetch.
    ///
    /// A refused list may have lacked an authority of another one. It is due again once another one has changed something.
    /// - Parameter before: `changes` at the begin of the fetch.
    mutating func take(_ outcome: ListRefresh.Outcome, since before: Int) {
        counts[outcome.result, default: 0] += 1
        var state = outcome.state
        if outcome.change != nil {
            for address in states.map({ Array($0.keys) }) ?? [] where states?[address]?.isRefused == true {
                states?[address]?.nextAt = 0
            }
            changes += 1
        } else if state.isRefused, changes > before {
            state.nextAt = 0
        }
        states?[state.address] = state
    }
}

extension StoredListFetch {
    /// Whether the last fetch has failed and no list is known, as after a refusal.
    fileprivate var isRefused: Bool { attempts > 0 && digest.isEmpty }
}
