// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import Synchronization

/// What the directory said last of itself and of how it wants to be used; shared by all who talk to it.
///
/// `config` comes with syncs, lookups and events, the remote configuration from its own request. Any thread.
package final class DirectoryWord: Sendable {
    private struct State {
        var config = DirectoryConfig()
        var remote: RemoteConfiguration?
        var listeners: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Every field of `config` that was ever said, each as it was said last.
    package var config: DirectoryConfig { state.withLock { $0.config } }

    /// Nil until it was fetched, and where the directory has none.
    package var remote: RemoteConfiguration? { state.withLock { $0.remote } }

    /// Calls `listener` after each word, on whatever thread it came by.
    func onWord(_ listener: @escaping @Sendable () -> Void) {
        state.withLock { $0.listeners.append(listener) }
    }

    func note(_ config: DirectoryConfig?) {
        guard let config else { return }
        tell { state in
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

    func note(_ remote: RemoteConfiguration?) { tell { $0.remote = remote } }

    private func tell(_ change: (inout State) -> Void) {
        let listeners = state.withLock { state in
            change(&state)
            return state.listeners
        }
        for listener in listeners { listener() }
    }

    // MARK: What follows from the remote configuration

    /// Most events in one request; 1 where the directory takes no batches.
    var eventsInBatch: Int {
        guard let remote, remote.features.eventBatch == true else { return 1 }
        return min(max(remote.settings.maxBatchSize ?? 50, 1), 1000)
    }

    /// Whether it tells what it no longer brands when asked; nil until its remote configuration was fetched.
    var tombstones: Bool? { remote.map { $0.features.tombstones == true } }

    /// The interval of syncs the directory asks for, at least a minute and at most a day.
    package var syncInterval: Duration? {
        remote?.settings.syncIntervalMinutes.map { .seconds(min(max($0, 1), 1440) * 60) }
    }

    /// How long its records may be used without a successful sync, at least an hour.
    package var cacheLifetime: Duration? {
        remote?.settings.cacheTTLHours.map { .seconds(min(max($0, 1), 8760) * 3600) }
    }
}
