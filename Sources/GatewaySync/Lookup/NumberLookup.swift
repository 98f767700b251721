// SPDX-License-Identifier: Apache-2.0

package import Branding
import BrandingAPI
import CallAccounting
import Foundation
package import Logging
import ServiceLifecycle
import Synchronization

/// Looks up callers without a brand at the directory, after their call has ended.
///
/// Off by default. One request at a time, evenly spaced, never while a phone rings. A number is looked up once, however
/// often it calls. An unknown number is not looked up again for a while. A found brand is stored until a sync lists its
/// number. Until then it is looked up again after each sync, and removed if the directory no longer has it. A full sync
/// decides about all. Withheld and uncertain numbers are not looked up. Source: securenode-endpoint-contract §6.
package final class NumberLookup: Service, Sendable {
    /// Lookups since the start, by result.
    package struct Counts: Hashable, Sendable {
        package var found = 0
        package var unknown = 0
        package var failed = 0
        /// Not looked up: looked up recently, queued already, or queue full.
        package var skipped = 0
    }

    /// The stored brands of earlier lookups that no sync has listed.
    package struct Unconfirmed: Sendable {
        /// Their numbers, at most as many as the limit.
        package var numbers: @Sendable (_ limit: Int) async throws -> [E164Number]
        /// Stores the result of a repeated lookup. Nil removes the brand. Returns true if it changed anything.
        package var replace: @Sendable (E164Number, BrandRecord?) async throws -> Bool

        package init(
            numbers: @escaping @Sendable (_ limit: Int) async throws -> [E164Number],
            replace: @escaping @Sendable (E164Number, BrandRecord?) async throws -> Bool
        ) {
            self.numbers = numbers
            self.replace = replace
        }
    }

    private struct State {
        var counts = Counts()
        var waiting: [E164Number] = []
        /// True after a sync, until the unconfirmed numbers are queued.
        var hasSynced = false
        /// Unconfirmed numbers to look up again, the next one last.
        var again: [E164Number] = []
        var queued: Set<E164Number> = []
        /// End of the time in which a number counts as unknown, by the steady clock.
        var unknown: [E164Number: Int64] = [:]
        var hasNews = false
        var lastIndex = Int64.min
        var lastError: String?
    }

    private let client: DirectoryClient
    private let device: DeviceIdentity
    private let publisher: BrandingPublisher
    private let schedule: LookupSchedule
    private let store: @Sendable (BrandRecord) async throws -> Bool
    private let unconfirmed: Unconfirmed?
    private let index: @Sendable () async throws -> BrandIndex
    private let time: ServiceClock
    private let logger: Logger
    private let state = Mutex(State())
    private let due = AsyncEvent()

    /// - Parameters:
    ///   - store: stores a record unless the number has one. Returns true if it stored the record.
    ///   - unconfirmed: the stored results of earlier lookups; nil leaves them to full syncs.
    ///   - index: builds the index from the stored records.
    package init(
        client: DirectoryClient, device: DeviceIdentity, publisher: BrandingPublisher, schedule: LookupSchedule,
        time: ServiceClock = .system, logger: Logger, store: @escaping @Sendable (BrandRecord) async throws -> Bool,
        unconfirmed: Unconfirmed? = nil, index: @escaping @Sendable () async throws -> BrandIndex
    ) {
        self.client = client
        self.device = device
        self.publisher = publisher
        self.schedule = schedule
        self.time = time
        self.logger = logger
        self.store = store
        self.unconfirmed = unconfirmed
        self.index = index
    }

    package var counts: Counts { state.withLock { $0.counts } }

    /// Queues a caller without a brand after the end of its call.
    ///
    /// Any thread; never waits. Numbers beyond a queue of `schedule.waiting` are skipped.
    package func ended(callFrom number: E164Number) {
        let now = time.steady()
        let isTaken = state.withLock { state in
            let isUnknown = state.unknown[number].map { $0 > now } ?? false
            guard !isUnknown, state.waiting.count < schedule.waiting, state.queued.insert(number).inserted else {
                state.counts.skipped += 1
                return false
            }
            state.waiting.append(number)
            return true
        }
        if isTaken { due.ring() }
    }

    /// Reports a successful sync, so that brands it did not list are looked up again. Any thread.
    package func synced() {
        guard unconfirmed != nil else { return }
        state.withLock { $0.hasSynced = true }
        due.ring()
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let wait = await self.step()
                if wait > .zero { await self.due.wait(wait, time: self.time) }
            }
        }
    }

    /// Looks up one number, if any is queued.
    ///
    /// - Returns: the wait for more numbers; zero to continue.
    func step() async -> Duration {
        await queueUnconfirmed()
        guard state.withLock({ !$0.waiting.isEmpty || !$0.again.isEmpty }) else { return await publishNews() }
        guard await publisher.gates.authorised else { return schedule.spacing }
        let pause = client.rateLimiter.pause(now: time.steady())
        guard pause == .zero else { return pause }
        // New callers first: what is stored already is at most a sync old.
        let (number, isAgain) = state.withLock { state -> (E164Number?, Bool) in
            guard let first = state.waiting.first else { return (state.again.popLast(), true) }
            state.waiting.removeFirst()
            state.queued.remove(first)
            return (first, false)
        }
        guard let number else { return .zero }
        await ask(about: number, isAgain: isAgain)
        _ = await publishNews()
        try? await time.sleep(schedule.spacing)
        return .zero
    }

    /// Queues the unconfirmed numbers after a sync.
    private func queueUnconfirmed() async {
        let isDue = state.withLock { state in
            defer { state.hasSynced = false }
            return state.hasSynced
        }
        guard isDue, let unconfirmed else { return }
        do {
            let numbers = try await unconfirmed.numbers(schedule.waiting)
            state.withLock { $0.again = numbers.reversed() }
        } catch {
            record(failure: "the brands of earlier lookups cannot be read: \(error)")
        }
    }

    private func ask(about number: E164Number, isAgain: Bool) async {
        do {
            let closings = await publisher.closings
            let response = try await client.lookup(number, deviceID: device.id)
            if let config = response?.config { await publisher.apply(config, askedAfter: closings) }
            let record = response.flatMap { Self.record($0, of: number) }
            if record == nil { recordUnknown(number) }
            var isNew = false
            if isAgain, let unconfirmed {
                isNew = try await unconfirmed.replace(number, record)
            } else if let record {
                isNew = try await store(record)
            }
            state.withLock { state in
                state.counts.found += record == nil ? 0 : 1
                state.hasNews = state.hasNews || isNew
                state.lastError = nil
            }
        } catch {
            // A 403 means that this account may not look up numbers. It does not concern the sync.
            if case .unauthorised(401, _) = error as? DirectoryError { await publisher.doubtKey() }
            state.withLock { $0.counts.failed += 1 }
            record(failure: "\(error)")
        }
    }

    private func record(failure text: String) {
        let isNews = state.withLock { state in
            defer { state.lastError = text }
            return state.lastError != text
        }
        if isNews, !Task.isCancelled { logger.notice("lookups fail", metadata: ["error": "\(text)"]) }
    }

    /// Returns the brand of a response; nil without one, or if it names another number.
    private static func record(_ response: LookupResponse, of number: E164Number) -> BrandRecord? {
        guard response.e164.isEmpty || E164Number(response.e164) == number else { return nil }
        let item = BrandingItem(
            phoneNumber: number.description, brandName: response.brandName, brandID: response.brandID,
            updatedAt: response.updatedAt, logoURL: response.logoURL, callReason: response.callReason)
        return try? item.record()
    }

    private func recordUnknown(_ number: E164Number) {
        let now = time.steady()
        state.withLock { state in
            state.counts.unknown += 1
            state.lastError = nil
            if state.unknown.count >= schedule.remembered { state.unknown = state.unknown.filter { $0.value > now } }
            // Still full of recent entries: dropping them only allows earlier lookups.
            if state.unknown.count >= schedule.remembered { state.unknown.removeAll(keepingCapacity: true) }
            state.unknown[number] = now + schedule.negativeTTL.components.seconds
        }
    }

    /// Publishes found brands to the call path. An index takes seconds to build, so several brands share one.
    private func publishNews() async -> Duration {
        let now = time.steady()
        let wait = state.withLock { state -> Duration? in
            guard state.hasNews else { return .seconds(3600) }
            let next = state.lastIndex == .min ? now : state.lastIndex + schedule.indexInterval.components.seconds
            guard next <= now else { return .seconds(next - now) }
            state.hasNews = false
            state.lastIndex = now
            return nil
        }
        if let wait { return wait }
        do {
            await publisher.publishNewer(try await index())
        } catch {
            state.withLock { $0.hasNews = true }
            logger.warning("the index with looked-up brands cannot be built", metadata: ["error": "\(error)"])
        }
        return schedule.indexInterval
    }
}

/// Rates and limits of lookups.
package struct LookupSchedule: Hashable, Sendable {
    /// Between two requests.
    package var spacing: Duration
    /// Time before an unknown number is looked up again.
    package var negativeTTL: Duration
    /// Length of the queue.
    package var waiting = 1000
    /// Limit of remembered unknown numbers, about 40 bytes each.
    package var remembered = 100_000
    /// Least time between two index builds for found brands.
    package var indexInterval: Duration = .seconds(60)

    package init(perMinute: Int = 30, negativeTTL: Duration = .seconds(86_400)) {
        spacing = .seconds(60) / max(perMinute, 1)
        self.negativeTTL = negativeTTL
    }
}

extension DirectoryClient {
    /// Looks up one number. Returns nil if the directory does not know it (404 or an empty response).
    func lookup(_ number: E164Number, deviceID: String) async throws(DirectoryError) -> LookupResponse? {
        let query = [(name: "e164", value: number.description), (name: "device_id", value: deviceID)]
        let body: Data
        do throws(DirectoryError) {
            body = try await get(APIPath.lookup, query: query, attempts: 1)
        } catch {
            if case .rejected(404, _) = error { return nil }
            throw error
        }
        guard !body.isEmpty else { return nil }
        let response = try decode(LookupResponse.self, body)
        state.record(response.config)
        return response
    }
}
