// SPDX-License-Identifier: Apache-2.0

package import Branding
package import BrandingAPI
package import CallAccounting
import Host
package import Logging
import ServiceLifecycle
import Synchronization

/// Synchronises the stored records, the index and the gates with the directory, off the call path.
///
/// The program starts from the stored copy. The first sync runs at once, then one every interval. After a failure the
/// last dataset stays in use. Only a refused key closes the gate. Source: securenode-endpoint-contract §5, §8, §11.
package final class SyncService: Service, Sendable {
    private let client: DirectoryClient
    private let cache: any BrandCache
    private let publisher: BrandingPublisher
    private let index: @Sendable () async throws -> BrandIndex
    private let whileSyncing: @Sendable (Bool) -> Void
    private let device: DeviceIdentity
    private let life: DeviceLife
    private let schedule: SyncSchedule
    private let time: ServiceClock
    /// Seconds of the monotonic clock.
    private let startedAt: Int64
    private let logger: Logger
    private let state = Mutex(State())
    private var due: AsyncEvent { publisher.wantsSync }
    private let synced = AsyncEvent()
    private let orders = SyncOrders()
    /// Durations of syncs by kind and result.
    package let durations = SyncDurations()

    private struct State {
        var status = SyncStatus()
        /// Set after a refused cursor, or by the operator.
        var wantsFull = false
        /// True if the next sync must be unconditional.
        var distrustsValidator = false
        var lastSync: Int64?
        /// True after the log line that no brand has a logo.
        var lacksLogos = false
        /// True after a successful sync until the device report.
        var isFresh = false
        /// Called after each successful sync.
        var onSuccess: (@Sendable () -> Void)?

        /// Takes over the stored state of an earlier run.
        mutating func recall(_ stored: SyncState) {
            lastSync = stored.lastSync
            status.lastSuccess = stored.lastSync
            status.lastFullSuccess = stored.lastFullSync
            status.cursor = stored.cursor
            status.generation = stored.generation
        }

        /// Applies the fields of every success.
        mutating func succeed(isFull: Bool, now: Int64, steady: Int64) {
            lastSync = now
            status.succeededAt = steady
            isFresh = true
            status.result = .succeeded
            status.lastSuccess = now
            if isFull { status.lastFullSuccess = now }
            (status.written, status.removed, status.rejected) = (0, 0, [:])
            status.lastError = nil
            status.failuresInARow = 0
            status.successes += 1
        }
    }

    /// - Parameters:
    ///   - index: builds the index from the stored records and saves it. Called after a sync changed rows.
    ///   - stateFolder: keeps the registration of the device.
    ///   - whileSyncing: called with `true` before a sync and `false` after it, so that calls can have priority.
    package init(
        client: DirectoryClient, cache: any BrandCache, publisher: BrandingPublisher, device: DeviceIdentity,
        stateFolder: String, schedule: SyncSchedule = SyncSchedule(), time: ServiceClock = .system, logger: Logger,
        whileSyncing: @escaping @Sendable (Bool) -> Void = { _ in },
        index: @escaping @Sendable () async throws -> BrandIndex
    ) {
        self.client = client
        self.cache = cache
        self.publisher = publisher
        self.device = device
        self.schedule = schedule
        self.time = time
        startedAt = time.steady()
        self.logger = logger
        self.index = index
        self.whileSyncing = whileSyncing
        life = DeviceLife(client: client, device: device, stateFolder: stateFolder, time: time, logger: logger)
    }

    /// Seconds since the last success, also of an earlier run; nil before the first.
    ///
    /// After a success in this run, steps of the wall clock have no effect.
    package var successAge: Int64? {
        let status = status
        if let at = status.succeededAt { return time.steady() - at }
        return status.lastSuccess.map { max(0, time.now() - $0) }
    }

    /// Seconds without a success: since the last one, or since this run began if there was none.
    package var age: Int64 { successAge ?? time.steady() - startedAt }

    /// The present status.
    package var status: SyncStatus { state.withLock { $0.status } }

    /// Every field of the directory's `config` with its last received value.
    package var config: DirectoryConfig { client.state.config }

    /// Calls `listener` after each successful sync, in the place of an earlier listener; any thread.
    package func onSuccess(_ listener: @escaping @Sendable () -> Void) {
        state.withLock { $0.onSuccess = listener }
    }

    /// Starts the next sync now.
    ///
    /// With `full` it requests the whole set. Any thread.
    package func syncNow(full: Bool = false) {
        if full { state.withLock { $0.wantsFull = true } }
        due.ring()
    }

    /// Syncs at once for an operator and returns at the end of that sync.
    ///
    /// - Parameter full: requests the whole set. A due sync may do so anyway.
    package func syncOrdered(full: Bool) async throws(SyncRefusal) -> SyncReport {
        await client.allowSignIn()
        return try await orders.place(full: full) {
            logger.info("a sync begins at once, as an operator asked", metadata: ["full": "\(full)"])
            due.ring()
        }
    }

    /// Tries a refused key again at once, as after a reload; any thread.
    package func retryRefusedKey() async {
        await client.allowSignIn()
        if status.result == .unauthorised { syncNow() }
    }

    /// Syncs and reports until graceful shutdown. A started transaction commits or rolls back.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.syncLoop() }
                group.addTask { await self.deviceLoop() }
            }
        }
    }

    private func syncLoop() async {
        defer { orders.close() }
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
            let (lastSync, isInSync) = state.withLock { ($0.lastSync, $0.status.result == .succeeded) }
            if isReport {
                await life.report(lastSync: lastSync, isInSync: isInSync)
            } else {
                await life.heartbeat(lastSync: lastSync, isInSync: isInSync)
            }
            await synced.wait(schedule.presence, time: time)
            isReport = state.withLock { state in
                defer { state.isFresh = false }
                return state.isFresh
            }
        }
    }

    /// Returns the wait until the next sync: the interval, or a backoff that the server may extend.
    private func delay(after failure: (any Error)?) -> Duration {
        guard failure != nil else { return time.spread(client.interval(schedule), by: 0.1) }
        let count = state.withLock { $0.status.failuresInARow }
        let own = Backoff(first: schedule.retry, limit: client.interval(schedule)).delay(afterFailures: count)
        let asked = (failure as? DirectoryError)?.retryAfter ?? .zero
        return max(time.spread(own, by: 0.1), asked)
    }

    /// Runs one sync from request to swapped index.
    ///
    /// - Returns: nil after a success, else the error. Status and log have it already.
    @discardableResult
    package func syncOnce() async -> (any Error)? {
        whileSyncing(true)
        defer { whileSyncing(false) }
        let isFullOrdered = orders.begin()
        let began = ContinuousClock.now
        let error = await attempt(isFullOrdered: isFullOrdered)
        durations.record(ContinuousClock.now - began, isFull: status.wasFull, succeeded: error == nil)
        orders.end(report(error))
        return error
    }

    private func attempt(isFullOrdered: Bool) async -> (any Error)? {
        let now = time.now()
        let (wantsFull, distrusts) = state.withLock { state in
            defer { (state.wantsFull, state.distrustsValidator) = (false, false) }
            return (state.wantsFull || isFullOrdered, state.distrustsValidator)
        }
        do {
            var stored = try await cache.syncState()
            if distrusts { (stored.fullValidator, stored.cursorValidator) = (nil, nil) }
            let isFull = wantsFull || isFullDue(stored, now: now)
            state.withLock { state in
                state.status.wasFull = isFull
                if state.status.lastSuccess == nil { state.recall(stored) }
            }
            try await sync(stored, isFull: isFull, now: now)
            if let has = client.state.tombstones, has != stored.hasTombstones {
                try await cache.store(hasTombstones: has)
            }
            state.withLock { $0.onSuccess }?()
            return nil
        } catch {
            state.withLock { state in
                state.wantsFull = state.wantsFull || wantsFull
                state.distrustsValidator = state.distrustsValidator || distrusts
            }
            guard !Task.isCancelled else { return error }
            await record(error)
            return error
        }
    }

    private func isFullDue(_ stored: SyncState, now: Int64) -> Bool {
        guard stored.cursor != nil, let last = stored.lastFullSync else { return true }
        // Otherwise a clock that was set back would postpone the refresh without end.
        return last > now || now - last >= schedule.fullRefresh.components.seconds
    }

    private func sync(_ stored: SyncState, isFull: Bool, now: Int64) async throws {
        let intake = try await cache.intake()
        let delivery = try await client.sync(
            since: isFull ? nil : stored.cursor, deviceID: device.id,
            // Unknown before the first sync after a start: the stored value applies. Otherwise a number removed
            // meanwhile would stay until the next full sync.
            includingInactive: client.state.tombstones ?? stored.hasTombstones ?? false,
            validator: isFull ? stored.fullValidator : stored.cursorValidator,
            into: intake)
        switch delivery {
        case .unchanged:
            await publisher.apply(sync: DirectoryConfig())
            try await cache.confirm(isFull: isFull, gates: await publisher.gates, now: now)
            recordUnchanged(isFull: isFull, now: now)
            try await publish(stored.generation)
        case .delivered(let response, let tally, let validator):
            try await apply(response, tally, validator, from: intake, isFull: isFull, now: now)
        }
    }

    private func apply(
        _ response: ReceivedSync, _ tally: SyncTally, _ validator: SyncValidator?, from intake: any BrandIntake,
        isFull: Bool, now: Int64
    ) async throws {
        if isFull, tally.usable == 0, tally.inactive == 0, tally.rejectedCount > 0 {
            // An authoritative set without one usable record must not remove the working ones.
            throw DirectoryError.badResponse(reason: "none of its \(tally.rejectedCount) records can be used")
        }
        let config = response.config ?? DirectoryConfig()
        // The gates first: the store takes seconds or fails on a full disk, and a closed gate must take effect at once.
        await publisher.apply(sync: config)
        var validator = validator
        if let config = response.config, !(await publisher.apply(cardsOf: config)) { validator = nil }
        // An empty incremental response with a validator does not move the cursor.
        let keepsCursor = !isFull && tally.received == 0 && validator != nil
        let change = SyncChange(
            isFull: isFull, cursor: keepsCursor ? nil : response.syncedAt, validator: validator,
            gates: await publisher.gates, now: now)
        let applied = try await cache.apply(change, from: intake)
        record(applied, change, tally)
        try await publish(applied.generation)
        await cache.settle(applied)
        try await acknowledge(response.syncedAt, intake)
    }

    /// Swaps the index if the one in use has another generation than the stored one. Also repeats a failed rebuild.
    private func publish(_ generation: Int64) async throws {
        guard await publisher.generation != generation else { return }
        let next = try await index()
        await publisher.publish(next)
        logger.info(
            "new brand index in use", metadata: ["numbers": "\(next.count)", "generation": "\(next.generation)"])
    }

    /// Acknowledges the received numbers, some thousands per request. A refusal has no effect.
    private func acknowledge(_ cursor: String, _ intake: any BrandIntake) async throws {
        guard schedule.acknowledges else { return }
        do {
            var isFirst = true
            try await intake.forEachPage(of: 5000) { numbers in
                isFirst = false
                try await self.client.acknowledge(
                    SyncAcknowledgement(lastSyncedAt: cursor, numbers: numbers.map(\.description)))
            }
            if isFirst { try await client.acknowledge(SyncAcknowledgement(lastSyncedAt: cursor, numbers: [])) }
        } catch let error as DirectoryError {
            logger.notice("the sync could not be acknowledged", metadata: ["error": "\(error)"])
        }
    }
}

// MARK: Status and log

extension SyncService {
    /// Returns the report of the sync that has just ended.
    private func report(_ error: (any Error)?) -> SyncReport {
        let status = status
        guard error == nil else {
            let reason = Task.isCancelled ? "the gateway stops" : status.lastError
            return SyncReport(isFull: status.wasFull, error: reason ?? "\(error.map { "\($0)" } ?? "")")
        }
        return SyncReport(
            isFull: status.wasFull, written: status.written, removed: status.removed, rejected: status.rejected)
    }

    /// Records a sync without changes.
    private func recordUnchanged(isFull: Bool, now: Int64) {
        let before = state.withLock { state in
            defer { state.succeed(isFull: isFull, now: now, steady: time.steady()) }
            return state.status
        }
        synced.ring()
        let isNews = before.result != .succeeded
        logger.log(
            level: isNews ? .info : .debug, isNews ? "the directory is in sync" : "synced",
            metadata: ["full": "\(isFull)", "unchanged": "true"])
    }

    private func record(_ applied: AppliedSync, _ change: SyncChange, _ tally: SyncTally) {
        let before = state.withLock { state in
            let before = state.status
            state.succeed(isFull: change.isFull, now: change.now, steady: time.steady())
            if let cursor = change.cursor { state.status.cursor = cursor }
            state.status.written = applied.written
            state.status.removed = applied.removed
            state.status.records = applied.total
            state.status.generation = applied.generation
            state.status.rejected = tally.rejected
            return before
        }
        synced.ring()
        if change.isFull, tally.usable > 0 { logLogos(tally) }
        if tally.rejected != before.rejected, !tally.rejected.isEmpty {
            let reasons = tally.rejected.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
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

    /// Logs once that the whole set has no logo, and again after a set that had one.
    private func logLogos(_ tally: SyncTally) {
        let lacks = tally.withLogo == 0
        let isNews = state.withLock { state in
            defer { state.lacksLogos = lacks }
            return lacks && !state.lacksLogos
        }
        guard isNews else { return }
        logger.notice(
            """
            no brand of the directory has a logo, so phones show names alone; give the brands a logo_url, for a \
            herald-directory see logos: of herald-directory.yaml
            """, metadata: ["records": "\(tally.usable)"])
    }

    private func record(_ error: any Error) async {
        let isUnauthorised = if case .unauthorised = error as? DirectoryError { true } else { false }
        if isUnauthorised { await publisher.closeUnauthorised() }
        var text = (error as? DirectoryError)?.description ?? "the sync could not be stored: \(error)"
        if isUnauthorised, let source = client.settings.keySource { text += "; the key is that of \(source)" }
        let before = state.withLock { [text] state in
            let before = state.status
            // The directory would refuse the same cursor or validator again: the next sync starts anew. A proxy's
            // refusal does not concern either.
            if let refusal = error as? DirectoryError, case .rejected = refusal, !refusal.isOfTheWay {
                state.wantsFull = true
                state.distrustsValidator = true
            }
            state.status.result = isUnauthorised ? .unauthorised : .failed
            state.status.lastError = text
            state.status.failuresInARow += 1
            state.status.failures += 1
            return before
        }
        guard before.lastError != text else { return }
        let effect = isUnauthorised ? "no brand is shown until the key is accepted" : "the last records stay in use"
        logger.warning("sync failed, \(effect)", metadata: ["error": "\(text)"])
    }
}
