// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import Synchronization

/// Holds the last `config` and remote configuration of the directory, for all its clients.
///
/// `config` arrives with syncs, lookups and events, the remote configuration with its own request. Any thread.
package final class DirectoryState: Sendable {
    private struct State {
        var config = DirectoryConfig()
        var remote: RemoteConfiguration?
        var listeners: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Every field of `config` with its last received value.
    package var config: DirectoryConfig { state.withLock { $0.config } }

    /// Nil before the first fetch, and if the directory has none.
    package var remote: RemoteConfiguration? { state.withLock { $0.remote } }

    /// Calls `listener` after each update, on the thread of the update.
    func onChange(_ listener: @escaping @Sendable () -> Void) {
        state.withLock { $0.listeners.append(listener) }
    }

    func record(_ config: DirectoryConfig?) {
        guard let config else { return }
        change { state in
            state.config.mode = config.mode ?? state.config.mode
            state.config.brandingEnabled = config.brandingEnabled ?? state.config.brandingEnabled
            state.config.voipDialerEnabled = config.voipDialerEnabled ?? state.config.voipDialerEnabled
            state.config.accountStatus = config.accountStatus ?? state.config.accountStatus
            state.config.clientID = config.clientID ?? state.config.clientID
            state.config.debugUI = config.debugUI ?? state.config.debugUI
            state.config.usedThisMonth = config.usedThisMonth ?? state.config.usedThisMonth
            state.config.capThisMonth = config.capThisMonth ?? state.config.capThisMonth
            state.config.includedImprintsMonthly =
                config.includedImprintsMonthly ?? state.config.includedImprintsMonthly
        }
    }

    func record(_ remote: RemoteConfiguration?) { change { $0.remote = remote } }

    private func change(_ edit: (inout State) -> Void) {
        let listeners = state.withLock { state in
            edit(&state)
            return state.listeners
        }
        for listener in listeners { listener() }
    }

    // MARK: Values of the remote configuration

    /// Most events in one request; 1 if the directory takes no batches.
    var eventsInBatch: Int {
        guard let remote, remote.features.eventBatch == true else { return 1 }
        return min(max(remote.settings.maxBatchSize ?? 50, 1), 1000)
    }

    /// True if the directory can list numbers that it no longer brands; nil before the first fetch.
    var tombstones: Bool? { remote.map { $0.features.tombstones == true } }

    /// The directory's sync interval, at least a minute and at most a day.
    package var syncInterval: Duration? {
        remote?.settings.syncIntervalMinutes.map { .seconds(min(max($0, 1), 1440) * 60) }
    }

    /// Lifetime of records without a successful sync, at least an hour.
    package var cacheLifetime: Duration? {
        remote?.settings.cacheTTLHours.map { .seconds(min(max($0, 1), 8760) * 3600) }
    }
}
