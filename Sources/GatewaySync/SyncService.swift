// SPDX-License-Identifier: Apache-2.0

package import Branding
import BrandingAPI
package import Gateway
package import Logging
import ServiceLifecycle
import Synchronization

/// Keeps the stored records, the index and the gates in step with the directory, off the call path.
///
/// The program starts from the stored copy; the first sync runs at once, then one every interval. Whatever goes wrong,
/// the last dataset stays in use; only 401 and 403 close the gate. Source: securenode-endpoint-contract §5, §8, §11.
package final class SyncService: Service, Sendable {
    private let client: DirectoryClient
    private let cache: any BrandCache
    private let publisher: BrandingPublisher
    private let index: @Sendable () async throws -> BrandIndex
    private let device: DeviceIdentity
    private let life: DeviceLife
    private let schedule: SyncSchedule
    private let time: Timekeeper
    private let logger: Logger
    private let state = Mutex(State())
    private let due = WakeSignal()
    private let synced = WakeSignal()

    private struct State {
        var status = SyncStatus()
        /// Set when the directory refused the cursor, or by the operator.
        var wantsFull = false
        var lastSync: Int64?
        /// True after a successful sync until the device was reported.
        var isFresh = false

        /// Takes over what an earlier run of the program left behind.
        mutating func recall(_ stored: SyncState) {
            lastSync = stored.lastSync
            status.lastSuccess = stored.lastSync
            status.lastFullSuccess = stored.lastFullSync
            status.cursor = stored.cursor
            status.generation = stored.generation
        }
    }

    /// - Parameters:
    ///   - index: builds the index from the stored records and saves it; called after a sync changed rows.
    ///   - stateFolder: where the registration of the device is noted.
    package init(
        client: DirectoryClient, cache: any BrandCache, publisher: BrandingPublisher, device: DeviceIdentity,
        stateFolder: String, schedule: SyncSchedule = SyncSchedule(), time: Timekeeper = .system, logger: Logger,
        index: @escaping @Sendable () async throws -> BrandIndex
    ) {
        self.client = client
        self.cache = cache
        self.publisher = publisher
        self.device = device
        self.schedule = schedule
        self.time = time
        self.logger = logger
        self.index = index
        life = DeviceLife(client: client, device: device, stateFolder: stateFolder, time: time, logger: logger)
    }

    /// How the sync stands at this instant.
    package var status: SyncStatus { state.withLock { $0.status } }

    /// Brings the next sync forward to now; with `full` it asks for the whole set.
    ///
    /// Any thread.
    package func syncNow(full: Bool = false) {
        if full { state.withLock { $0.wantsFull = true } }
        due.ring()
    }

    /// Syncs and reports until graceful shutdown; a transaction that has begun ends whole or not at all.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.syncLoop() }
                group.addTask { await self.deviceLoop() }
            }
        }
    }

    private func syncLoop() async {
        while !Task.isCancelled {
            let failure = await syncOnce()
            let wait = delay(after: failure)
            let nextAt = time.now() + wait.wholeSeconds
            state.withLock { $0.status.nextAt = nextAt }
            await due.wait(wait, time: time)
            state.withLock { $0.status.nextAt = nil }
        }
    }

    private func deviceLoop() async {
        var isReport = true
        while !Task.isCancelled {
            let lastSync = state.withLock { $0.lastSync }
            if isReport { await life.report(lastSync: lastSync) } else { await life.heartbeat(lastSync: lastSync) }
            await synced.wait(schedule.presence, time: time)
            isReport = state.withLock { state in
                defer { state.isFresh = false }
                return state.isFresh
            }
        }
    }

    /// The wait until the next sync: the interval, or a backoff that the server may lengthen.
    private func delay(after failure: (any Error)?) -> Duration {
        guard failure != nil else { return time.spread(schedule.interval, by: 0.1) }
        let count = state.withLock { $0.status.failuresInARow }
        let own = Backoff(first: schedule.retry, limit: schedule.interval).delay(afterFailures: count)
        let asked = (failure as? DirectoryError)?.retryAfter ?? .zero
        return max(time.spread(own, by: 0.1), asked)
    }

    /// Runs one sync from request to swapped index.
    ///
    /// - Returns: nil after a success, else why it failed; status and log know already.
    @discardableResult
    package func syncOnce() async -> (any Error)? {
        let now = time.now()
        let wantsFull = state.withLock { state in
            state.status.lastAttempt = now
            defer { state.wantsFull = false }
            return state.wantsFull
        }
        do {
            let stored = try await cache.syncState()
            let isFull = wantsFull || isFullDue(stored, now: now)
            state.withLock { state in
                state.status.wasFull = isFull
                if state.status.lastSuccess == nil { state.recall(stored) }
            }
            try await sync(since: isFull ? nil : stored.cursor, now: now)
            return nil
        } catch {
            if wantsFull { state.withLock { $0.wantsFull = true } }
            guard !Task.isCancelled else { return error }
            await note(error)
            return error
        }
    }

    private func isFullDue(_ stored: SyncState, now: Int64) -> Bool {
        guard stored.cursor != nil, let last = stored.lastFullSync else { return true }
        // A clock that was set back would otherwise postpone the refresh without end.
        return last > now || now - last >= schedule.fullRefresh.components.seconds
    }

    private func sync(since cursor: String?, now: Int64) async throws {
        let answer = try await client.sync(since: cursor, deviceID: device.id)
        let intake = SyncIntake(answer.items, malformed: answer.malformed)
        if cursor == nil, intake.upserts.isEmpty, intake.removals.isEmpty, intake.rejectedCount > 0 {
            // An authoritative set of nothing but garbage is no reason to remove what works.
            throw DirectoryError.badAnswer(reason: "none of its \(intake.rejectedCount) records can be used")
        }
        let config = answer.config ?? DirectoryConfig()
        let change = SyncChange(
            isFull: cursor == nil, upserts: intake.upserts, removals: intake.removals, cursor: answer.syncedAt,
            gates: config.gates(after: await publisher.gates), now: now)
        let applied = try await cache.apply(change)
        // The gates first: building an index takes seconds, and a closed gate is obeyed at once.
        await publisher.change { config.gates(after: $0) }
        await note(applied, change, intake)
        try await publish(applied.generation)
        await acknowledge(change)
    }

    /// Swaps the index if calls see another generation than the stored one; also mends a rebuild that failed before.
    private func publish(_ generation: Int64) async throws {
        guard await publisher.generation != generation else { return }
        let next = try await index()
        await publisher.publish(next)
        logger.info(
            "new brand index in use", metadata: ["numbers": "\(next.count)", "generation": "\(next.generation)"])
    }

    private func acknowledge(_ change: SyncChange) async {
        guard schedule.acknowledges else { return }
        let acknowledgement = SyncAcknowledgement(
            lastSyncedAt: change.cursor, numbers: change.upserts.map { $0.number.description })
        do throws(DirectoryError) {
            try await client.acknowledge(acknowledgement)
        } catch {
            logger.notice("the sync could not be acknowledged", metadata: ["error": "\(error)"])
        }
    }
}

// MARK: Status and log

extension SyncService {
    private func note(_ applied: AppliedSync, _ change: SyncChange, _ intake: SyncIntake) async {
        let before = state.withLock { state in
            let before = state.status
            state.lastSync = change.now
            state.isFresh = true
            state.status.result = .succeeded
            state.status.lastSuccess = change.now
            if change.isFull { state.status.lastFullSuccess = change.now }
            state.status.cursor = change.cursor
            state.status.written = applied.written
            state.status.removed = applied.removed
            state.status.records = applied.total
            state.status.generation = applied.generation
            state.status.rejected = intake.rejected
            state.status.lastError = nil
            state.status.failuresInARow = 0
            state.status.successes += 1
            return before
        }
        synced.ring()
        if intake.rejected != before.rejected, !intake.rejected.isEmpty {
            let reasons = intake.rejected.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            logger.warning(
                "records of the directory were left out", metadata: ["reasons": "\(reasons.joined(separator: ", "))"])
        }
        let isNews = before.result != .succeeded
        logger.log(
            level: isNews ? .info : .debug, isNews ? "the directory is in sync" : "synced",
            metadata: [
                "full": "\(change.isFull)", "written": "\(applied.written)", "removed": "\(applied.removed)",
                "records": "\(applied.total)",
            ])
    }

    private func note(_ error: any Error) async {
        let isUnauthorised = if case .unauthorised = error as? DirectoryError { true } else { false }
        if isUnauthorised { await publisher.closeUnauthorised() }
        let text = (error as? DirectoryError)?.description ?? "the sync could not be stored: \(error)"
        let before = state.withLock { state in
            let before = state.status
            // A cursor the directory refuses would be refused for ever: the next sync starts anew.
            if case .rejected = error as? DirectoryError { state.wantsFull = true }
            state.status.result = isUnauthorised ? .unauthorised : .failed
            state.status.lastError = text
            state.status.failuresInARow += 1
            state.status.failures += 1
            return before
        }
        guard before.lastError != text else { return }
        logger.warning("sync failed, the last records stay in use", metadata: ["error": "\(text)"])
    }
}
