// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
package import CallAccounting
package import Host
package import Logging
import ServiceLifecycle
import Synchronization

/// Sends events from the outbox to the directory, each until it has a response, always with the same key.
///
/// While the directory is away or refuses events, a few events probe it with growing intervals and the rest wait. While
/// it refuses the key of syncs, no event is sent. A response is written to the outbox even during shutdown. An event whose response is lost is
/// sent again under the same key. Source: securenode-endpoint-contract §7 and §11.
package final class EventSender: Service, Sendable {
    let client: DirectoryClient
    private let outbox: any EventOutbox
    let publisher: BrandingPublisher
    let body: EventBody
    private let schedule: EventSchedule
    private let time: ServiceClock
    let logger: Logger
    private let due = AsyncEvent()
    private let stop = AsyncEvent()
    /// Time from the storing of an event to the directory's acceptance.
    private let deliveries = DurationHistogram(.delivery)
    private let state = Mutex(State())

    private struct State {
        var counts = EventCounts()
        /// Batches in a row that ended in failures.
        var failuresInARow = 0
        var batchFailed = false
        /// The longest wait that the directory asked for in this batch.
        var asked: Duration = .zero
        var lastError: String?
        var isStopping = false
        /// No event is sent before this time by the steady clock, unless a sync has succeeded since.
        var held = (until: Int64.min, syncs: 0, refusals: 0)
        /// Largest accepted batch according to the directory's refusals, and its time by the steady clock.
        var batchLimit = (events: Int.max, since: Int64.min)
    }

    package init(
        client: DirectoryClient, outbox: any EventOutbox, publisher: BrandingPublisher, device: DeviceIdentity,
        schedule: EventSchedule = EventSchedule(), time: ServiceClock = .system, logger: Logger
    ) {
        self.client = client
        self.outbox = outbox
        self.publisher = publisher
        body = EventBody(device: device)
        self.schedule = schedule
        self.time = time
        self.logger = logger
    }

    /// Events sent since the start.
    package var counts: EventCounts { state.withLock { $0.counts } }

    /// Times from the storing of events to their acceptance, in seconds.
    package var deliveryTimes: Distribution { deliveries.distribution }

    /// Reports a new event in the outbox, so that it is sent at once. Any thread.
    package func wake() { due.ring() }

    /// Sends until graceful shutdown. Requests in flight finish; no new ones start.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            while !isStopping {
                let wait = await sendBatch()
                guard !isStopping else { break }
                // New events must not shorten a backoff. Only shutdown ends it.
                let isBackingOff = state.withLock { $0.failuresInARow > 0 }
                if wait > .zero { await (isBackingOff ? stop : due).wait(wait, time: time) }
            }
        } onCancelOrGracefulShutdown: {
            self.state.withLock { $0.isStopping = true }
            self.due.ring()
            self.stop.ring()
        }
    }

    /// Most events in one request.
    var batchSize: Int {
        let now = time.steady()
        return state.withLock { state in
            if !(0..<Self.limitHolds).contains(now &- state.batchLimit.since) { state.batchLimit.events = .max }
            return min(client.state.eventsInBatch, state.batchLimit.events)
        }
    }
    /// Seconds. One spoilt response, or a server before its upgrade, must not slow events down for weeks.
    private static let limitHolds: Int64 = 3600
    /// True if the last responses of this round were failures. The rest stays due, without a counted attempt.
    var hasFailed: Bool { state.withLock { $0.batchFailed } }

    /// Limits the batch size for an hour. Nil changes nothing.
    func limitBatches(_ limit: Int?) {
        guard let limit else { return }
        let now = time.steady()
        state.withLock { $0.batchLimit = (max(1, min($0.batchLimit.events, limit)), now) }
    }

    var isStopping: Bool { state.withLock { $0.isStopping } || Task.isCancelled }

    /// Sends the due events, at most one batch.
    ///
    /// - Returns: the wait before the next batch; zero if more events may be due.
    @discardableResult
    package func sendBatch() async -> Duration {
        guard await publisher.gates.authorised else { return schedule.idle }
        let held = await heldFor()
        guard held == .zero else { return min(held, Self.holdCheck) }
        // Slowing down before the directory has to refuse: no attempt is counted.
        let wait = client.rateLimiter.pause(now: time.steady())
        guard wait == .zero else { return wait }
        // A full request where the directory counts requests, so that an outage of days is made up for in hours.
        let limit = max(schedule.batch, batchSize)
        var events: [PendingEvent]
        do {
            events = try await outbox.dueEvents(limit: limit, now: time.now())
        } catch {
            record(failure: "the outbox cannot be read: \(error)")
            return pause()
        }
        guard !events.isEmpty else { return schedule.idle }
        // New events first: a few failing ones must not block them.
        events = events.filter { $0.attempts == 0 } + events.filter { $0.attempts > 0 }
        if await !sendTogether(events) { await sendSingly(events) }
        return pause(otherwise: events.count < limit ? schedule.idle : .zero)
    }

    private func sendSingly(_ events: [PendingEvent]) async {
        await withTaskGroup(of: Void.self) { group in
            var waiting = events.makeIterator()
            for _ in 0..<schedule.concurrency {
                guard let next = waiting.next() else { break }
                group.addTask { await self.send(next) }
            }
            while await group.next() != nil {
                guard !isStopping, !hasFailed, client.rateLimiter.pause(now: time.steady()) == .zero,
                    let next = waiting.next()
                else { continue }
                group.addTask { await self.send(next) }
            }
        }
    }

    /// Returns the wait after failures, or `otherwise` if the last responses were good.
    private func pause(otherwise: Duration = .zero) -> Duration {
        let (failures, asked) = state.withLock { state in
            defer {
                state.batchFailed = false
                state.asked = .zero
            }
            state.failuresInARow = state.batchFailed ? state.failuresInARow + 1 : 0
            return (state.failuresInARow, state.asked)
        }
        guard failures > 0 else { return otherwise }
        return max(time.spread(schedule.backoff.delay(afterFailures: failures), by: 0.1), asked)
    }

    func send(_ pending: PendingEvent) async {
        do throws(DirectoryError) {
            let request: EventRequest
            do {
                request = try body.request(for: pending.event)
            } catch {
                await refuse(pending, status: 0, reason: "the event cannot be written as JSON")
                return
            }
            let closings = await publisher.closings
            let response = try await client.send(request)
            if let config = response.config { await obey(config, askedAfter: closings) }
            await settle(pending, taken: response)
        } catch {
            switch error {
            // A proxy refused; that does not concern the event.
            case .rejected where error.isOfTheWay: await postpone(pending, error)
            case .rejected(let status, let message):
                await refuse(pending, status: status, reason: message.description)
            case .unauthorised: await postpone(pending, refused: error)
            case .unavailable, .badResponse, .notKept:
                await postpone(pending, error)
            }
        }
    }

    /// Takes over the directory's `config` and its gates.
    func obey(_ config: DirectoryConfig, askedAfter closings: Int) async {
        client.state.record(config)
        await publisher.apply(config, askedAfter: closings)
    }

    func settle(_ pending: PendingEvent, taken response: EventResponse) async {
        let receipt = EventReceipt(
            eventID: response.eventID.map { ServerText.clean($0) }, counted: response.counted,
            reason: response.reason.map { ServerText.clean($0) })
        let isStored = await store("delivered", pending) { [outbox, time] in
            try await outbox.markDelivered(key: pending.event.key, receipt: receipt, now: time.now())
        }
        guard isStored else { return }
        if let storedAt = pending.storedAt { deliveries.record(.seconds(time.now() - storedAt)) }
        settled { counts in
            counts.delivered += 1
            guard response.counted == false else { return }
            counts.notCountedByReason[EventCounts.label(response.reason), default: 0] += 1
        }
    }

    func refuse(_ pending: PendingEvent, status: Int, reason: String) async {
        let isStored = await store("refused", pending) { [outbox, time] in
            try await outbox.markRefused(key: pending.event.key, status: status, reason: reason, now: time.now())
        }
        guard isStored else { return }
        settled { $0.refused += 1 }
        logger.warning(
            "the directory refused an event, it is kept for the operator",
            metadata: ["key": "\(pending.event.key)", "status": "\(status)", "reason": "\(reason)"])
    }

    /// Waits after refusals in a row, and the time after which a held sender looks for a successful sync.
    private static let holds = Backoff(first: .seconds(60), limit: .seconds(3600))
    private static let holdCheck = Duration.seconds(30)

    /// The time for which a refusal still stops all events; zero after a successful sync.
    private func heldFor() async -> Duration {
        let (now, syncs) = (time.steady(), await publisher.syncs)
        return state.withLock { $0.held.syncs == syncs && now < $0.held.until ? .seconds($0.held.until - now) : .zero }
    }

    /// Postpones an event that the directory has refused access for, and stops all events.
    ///
    /// Branding goes on: only a sync decides about the gate.
    func postpone(_ pending: PendingEvent, refused error: DirectoryError) async {
        let (now, syncs) = (time.steady(), await publisher.syncs)
        state.withLock { state in
            // Events in flight at once are refused together.
            guard state.held.syncs != syncs || now >= state.held.until else { return }
            let wait = Self.holds.delay(afterFailures: state.held.refusals + 1).wholeSeconds
            state.held = (now + wait, syncs, state.held.refusals + 1)
        }
        await publisher.doubtKey()
        await postpone(pending, error)
    }

    func postpone(_ pending: PendingEvent, _ error: DirectoryError) async {
        record(failure: error.description, asked: error.retryAfter ?? .zero)
        let own = schedule.backoff.delay(afterFailures: pending.attempts + 1)
        let wait = max(time.spread(own, by: 0.1), error.retryAfter ?? .zero)
        let until = time.now() + wait.wholeSeconds
        _ = await store("postponed", pending) { [outbox] in
            try await outbox.postpone(key: pending.event.key, until: until, reason: error.description)
        }
        state.withLock { $0.counts.postponed += 1 }
    }

    /// Writes a response to the outbox.
    ///
    /// If that fails, the event stays due and is sent again with its key. In a task of its own: the response must be
    /// stored even if the caller is cancelled.
    private func store(
        _ what: String, _ pending: PendingEvent, _ write: @escaping @Sendable () async throws -> Void
    ) async -> Bool {
        do {
            try await Task { try await write() }.value
            return true
        } catch {
            record(failure: "an event that was \(what) could not be stored: \(error)")
            return false
        }
    }

    private func settled(_ count: (inout EventCounts) -> Void) {
        let recovered = state.withLock { state in
            count(&state.counts)
            // The directory responds: an event that fails now waits alone.
            state.batchFailed = false
            state.failuresInARow = 0
            state.held = (.min, 0, 0)
            defer { state.lastError = nil }
            return state.lastError != nil
        }
        if recovered { logger.info("events are being delivered again") }
    }

    /// Counts a failure and logs it unless it equals the last logged one.
    private func record(failure text: String, asked: Duration = .zero) {
        let isNews = state.withLock { state in
            state.batchFailed = true
            state.asked = max(state.asked, asked)
            defer { state.lastError = text }
            return state.lastError != text
        }
        if isNews { logger.warning("events wait in the outbox", metadata: ["error": "\(text)"]) }
    }
}

/// Concurrency, batch size and waits of the event sender.
package struct EventSchedule: Hashable, Sendable {
    /// Concurrent requests.
    package var concurrency: Int
    /// Events read from the outbox at once.
    package var batch = 64
    /// Poll interval of an empty outbox.
    package var idle: Duration = .seconds(1)
    /// Waits of one event, and of the sender, after consecutive failures; spread by ± 10 %.
    package var backoff = Backoff(first: .seconds(1), limit: .seconds(300))

    package init(concurrency: Int = 4) {
        self.concurrency = max(1, concurrency)
    }
}

/// Events since the start of the program, by result.
package struct EventCounts: Hashable, Sendable {
    /// Accepted by the directory, counted or not.
    package var delivered = 0
    /// Delivered events that the directory reported as not counted, by reason: one of the contract, `none` or `other`.
    package var notCountedByReason: [String: Int] = [:]
    package var refused = 0
    /// Failed attempts that will be repeated.
    package var postponed = 0

    /// Delivered events that the directory reported as not counted.
    package var notCounted: Int { notCountedByReason.values.reduce(0, +) }

    /// The reasons in `notCountedByReason`.
    package static let reasons = UncountedReason.allCases.map(\.rawValue) + ["none", "other"]

    /// A directory's own reasons would make a series each.
    static func label(_ reason: String?) -> String {
        guard let reason, !reason.isEmpty else { return "none" }
        return UncountedReason(rawValue: reason)?.rawValue ?? "other"
    }
}
