// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
package import CallAccounting
package import Logging
import ServiceLifecycle
import Synchronization

/// Carries events from the outbox to the directory, each until it is answered, always with the same key.
///
/// While the directory is away only a few events probe it, ever more rarely, and the rest wait untouched; while it
/// refuses the key none is sent at all. An answer that arrives is written to the outbox even during shutdown. What is
/// lost in between is sent again, and the directory knows the key. Source: securenode-endpoint-contract §7 and §11.
package final class EventSender: Service, Sendable {
    let client: DirectoryClient
    private let outbox: any EventOutbox
    let publisher: BrandingPublisher
    let body: EventBody
    private let schedule: EventSchedule
    private let time: Timekeeper
    let logger: Logger
    private let due = WakeSignal()
    private let stop = WakeSignal()
    private let state = Mutex(State())

    private struct State {
        var counts = EventCounts()
        /// Batches in a row that ended in failures.
        var failuresInARow = 0
        var batchFailed = false
        /// The longest wait the directory asked for in this batch.
        var asked: Duration = .zero
        var lastError: String?
        var isStopping = false
        /// Most events in a batch, as far as the directory's refusals told, and when that was by the steady clock.
        var batchLimit = (events: Int.max, since: Int64.min)
    }

    package init(
        client: DirectoryClient, outbox: any EventOutbox, publisher: BrandingPublisher, device: DeviceIdentity,
        schedule: EventSchedule = EventSchedule(), time: Timekeeper = .system, logger: Logger
    ) {
        self.client = client
        self.outbox = outbox
        self.publisher = publisher
        body = EventBody(device: device)
        self.schedule = schedule
        self.time = time
        self.logger = logger
    }

    /// What was sent since the start.
    package var counts: EventCounts { state.withLock { $0.counts } }

    /// Says that the outbox has something new, which saves the time until the next look.
    ///
    /// Any thread.
    package func wake() { due.ring() }

    /// Sends until graceful shutdown; requests in flight are finished, no new ones begun.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            while !isStopping {
                let wait = await sendBatch()
                guard !isStopping else { break }
                // New events must not wear down a backoff: only the end of the program cuts it short.
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
            return min(client.word.eventsInBatch, state.batchLimit.events)
        }
    }
    /// Seconds; a server that was upgraded, or an answer a proxy had spoilt, must not make events slow for weeks.
    private static let limitHolds: Int64 = 3600
    /// True while the last answers of this round were failures: the rest stays as it is, due and with no attempt counted.
    var hasFailed: Bool { state.withLock { $0.batchFailed } }

    /// Sends smaller batches for an hour; nil changes nothing.
    func limitBatches(_ limit: Int?) {
        guard let limit else { return }
        let now = time.steady()
        state.withLock { $0.batchLimit = (max(1, min($0.batchLimit.events, limit)), now) }
    }

    var isStopping: Bool { state.withLock { $0.isStopping } || Task.isCancelled }

    /// Sends what is due, at most one batch.
    ///
    /// - Returns: how long to wait before the next batch; zero if more may be due.
    @discardableResult
    package func sendBatch() async -> Duration {
        guard await publisher.gates.authorised else { return schedule.idle }
        // Slowing down before the directory has to refuse: no attempt is counted.
        let wait = client.pace.pause(now: time.steady())
        guard wait == .zero else { return wait }
        // A full request where the directory counts requests, so that an outage of days is made up for in hours.
        let limit = max(schedule.batch, batchSize)
        var events: [PendingEvent]
        do {
            events = try await outbox.dueEvents(limit: limit, now: time.now())
        } catch {
            note(failure: "the outbox cannot be read: \(error)")
            return pause()
        }
        guard !events.isEmpty else { return schedule.idle }
        // New ones first: a few that fail each time must not be all that is ever tried.
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
                guard !isStopping, !hasFailed, client.pace.pause(now: time.steady()) == .zero,
                    let next = waiting.next()
                else { continue }
                group.addTask { await self.send(next) }
            }
        }
    }

    /// The wait after failures, or the given one if the last answers were good.
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
            let answer = try await client.send(request)
            if let config = answer.config { await obey(config, askedAfter: closings) }
            await settle(pending, taken: answer)
        } catch {
            switch error {
            // Something on the way refused, which concerns no event.
            case .rejected where error.isOfTheWay: await postpone(pending, error)
            case .rejected(let status, let message):
                await refuse(pending, status: status, reason: message.description)
            case .unauthorised:
                await publisher.doubtKey()
                await postpone(pending, error)
            case .unavailable, .badAnswer, .notKept:
                await postpone(pending, error)
            }
        }
    }

    /// Does what the directory says of itself and its gates.
    func obey(_ config: DirectoryConfig, askedAfter closings: Int) async {
        client.word.note(config)
        await publisher.apply(config, askedAfter: closings)
    }

    func settle(_ pending: PendingEvent, taken answer: EventResponse) async {
        let receipt = EventReceipt(
            eventID: answer.eventID.map { ServerText.clean($0) }, counted: answer.counted,
            reason: answer.reason.map { ServerText.clean($0) })
        let isStored = await store("delivered", pending) { [outbox, time] in
            try await outbox.markDelivered(key: pending.event.key, receipt: receipt, now: time.now())
        }
        guard isStored else { return }
        settled { counts in
            counts.delivered += 1
            counts.notCounted += answer.counted == false ? 1 : 0
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

    func postpone(_ pending: PendingEvent, _ error: DirectoryError) async {
        note(failure: error.description, asked: error.retryAfter ?? .zero)
        let own = schedule.backoff.delay(afterFailures: pending.attempts + 1)
        let wait = max(time.spread(own, by: 0.1), error.retryAfter ?? .zero)
        let until = time.now() + wait.wholeSeconds
        _ = await store("postponed", pending) { [outbox] in
            try await outbox.postpone(key: pending.event.key, until: until, reason: error.description)
        }
        state.withLock { $0.counts.postponed += 1 }
    }

    /// Writes an answer to the outbox; if that fails the event stays due and is sent again with its key.
    ///
    /// In a task of its own, because the answer has to be kept even when this one is being cancelled.
    private func store(
        _ what: String, _ pending: PendingEvent, _ write: @escaping @Sendable () async throws -> Void
    ) async -> Bool {
        do {
            try await Task { try await write() }.value
            return true
        } catch {
            note(failure: "an event that was \(what) could not be noted: \(error)")
            return false
        }
    }

    private func settled(_ count: (inout EventCounts) -> Void) {
        let recovered = state.withLock { state in
            count(&state.counts)
            // Somebody is there: what fails now waits by itself, and holds up nothing else.
            state.batchFailed = false
            state.failuresInARow = 0
            defer { state.lastError = nil }
            return state.lastError != nil
        }
        if recovered { logger.info("events are being delivered again") }
    }

    /// Counts a failure and logs it unless it is the one that was logged last.
    private func note(failure text: String, asked: Duration = .zero) {
        let isNews = state.withLock { state in
            state.batchFailed = true
            state.asked = max(state.asked, asked)
            defer { state.lastError = text }
            return state.lastError != text
        }
        if isNews { logger.warning("events wait in the outbox", metadata: ["error": "\(text)"]) }
    }
}

/// How events are sent.
package struct EventSchedule: Hashable, Sendable {
    /// Requests at the same time.
    package var concurrency: Int
    /// Events taken from the outbox at once.
    package var batch = 64
    /// Time between two looks into an empty outbox.
    package var idle: Duration = .seconds(1)
    /// Waits of one event, and of the sender, after failures in a row; spread by ± 10 %.
    package var backoff = Backoff(first: .seconds(1), limit: .seconds(300))

    package init(concurrency: Int = 4) {
        self.concurrency = max(1, concurrency)
    }
}

/// Events since the start of the program, by what became of them.
package struct EventCounts: Hashable, Sendable {
    /// Taken by the directory, counted or not.
    package var delivered = 0
    /// Of the delivered ones, those the directory reported as not counted; those it reported nothing about are not here.
    package var notCounted = 0
    package var refused = 0
    /// Attempts that failed and will be repeated.
    package var postponed = 0

    package init() {}
}
