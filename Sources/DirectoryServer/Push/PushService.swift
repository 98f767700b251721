// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Foundation
import Logging
import ServiceLifecycle
import Synchronization

/// Sends the messages of the outbox, aside of all requests.
///
/// `concurrency` attempts run at once. Each has a lease of the outbox, and ends before it. At a stop the attempts in
/// progress end, and everything else waits in the database.
final class PushService: Service {
    /// Attempts at once.
    static let concurrency = 32
    /// Time between two looks at an empty outbox.
    static let pause = Duration.seconds(1)

    private let outbox: PushOutbox
    private let gateway: PushGateway
    private let publicURL: String?
    private let counters: PushCounters
    private let now: @Sendable () -> Int64
    private let logger: Logger
    private let lines: PushLines
    private let breaker = PushBreaker()
    private let running = Mutex(0)
    private let pause: Duration

    /// - Parameters:
    ///   - pause: the time between two looks; tests shorten it.
    ///   - now: seconds since 1970.
    init(
        database: DirectoryDatabase, gateway: PushGateway, publicURL: String?, counters: PushCounters,
        pause: Duration = PushService.pause, now: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        outbox = PushOutbox(database)
        (self.gateway, self.publicURL, self.counters) = (gateway, publicURL, counters)
        (self.pause, self.now, self.logger) = (pause, now, logger)
        lines = PushLines(logger: logger)
    }

    func run() async throws {
        await withDiscardingTaskGroup { attempts in
            var lastCount = ContinuousClock.now - .seconds(60)
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                let isBusy = await round(&attempts)
                if ContinuousClock.now - lastCount > .seconds(10) {
                    lastCount = .now
                    if let waiting = try? await outbox.waiting() { counters.setWaiting(waiting) }
                }
                if !isBusy { try? await cancelWhenGracefulShutdown { try await Task.sleep(for: self.pause) } }
            }
        }
        await gateway.stop()
    }

    /// Finds devices of one message, and begins attempts for free places; true if there may be more to do at once.
    private func round(_ attempts: inout DiscardingTaskGroup) async -> Bool {
        do {
            guard try await outbox.hasWork(now: now()) else { return false }
            let isOpen = try await outbox.fanOut(now: now())
            let free = Self.concurrency - running.withLock { $0 }
            guard free > 0 else {
                try? await Task.sleep(for: .milliseconds(20))
                return true
            }
            let leased = try await outbox.lease(free, now: now())
            for delivery in leased {
                running.withLock { $0 += 1 }
                attempts.addTask {
                    await self.attempt(delivery)
                    self.running.withLock { $0 -= 1 }
                }
            }
            return isOpen || !leased.isEmpty
        } catch {
            lines.log(.store, ["error": "\(error)"])
            return false
        }
    }

    private func attempt(_ delivery: PushDelivery) async {
        let service = PushBreaker.service(delivery.platform, delivery.address)
        do {
            if let until = breaker.wait(service, now: now()) {
                // Deliveries of one service do not return all at the same second.
                try await outbox.release(delivery, until: until + Int64.random(in: 0...15))
                return
            }
            let outcome = await gateway.send(
                PushNotice(delivery, gateway, publicURL: publicURL), delivery.platform, delivery.address,
                "\(delivery.topic.rawValue):\(delivery.key):\(delivery.device)")
            counters.add(outcome, on: delivery.platform)
            try await record(outcome, of: delivery, at: service)
        } catch {
            // The lease ends, and the attempt is made once more.
            lines.log(.store, ["error": "\(error)"])
        }
    }

    private func record(_ outcome: PushOutcome, of delivery: PushDelivery, at service: String) async throws {
        switch outcome {
        case .delivered:
            breaker.succeed(service)
            try await outbox.finish(delivery)
        case .gone(let reason):
            breaker.succeed(service)
            if try await outbox.removeDevice(of: delivery) {
                counters.addRemovedDevice()
                lines.log(.gone, ["service": "\(service)", "reason": "\(Self.shown(reason))"])
            } else {
                // The device has a new address, which gets the message.
                try await outbox.postpone(delivery, until: now())
            }
        case .refused(let reason):
            breaker.succeed(service)
            try await outbox.giveUp(delivery)
            lines.log(.refused, ["service": "\(service)", "reason": "\(Self.shown(reason))"])
        case .tooLarge:
            breaker.succeed(service)
            try await outbox.giveUp(delivery)
            lines.log(.refused, ["service": "\(service)", "reason": "the message is too large"])
        case .later(let after, let reason):
            let isNews = breaker.fail(service, now: now())
            let pause = PushRetries.pause(
                after: delivery.attempts + 1, after, share: Double.random(in: 0..<1))
            try await outbox.postpone(delivery, until: now() + pause)
            if isNews { lines.log(.later, ["service": "\(service)", "reason": "\(Self.shown(reason))"]) }
        }
    }

    /// A text of a push service for the log.
    private static func shown(_ reason: String) -> String { ClientText.clean(reason, atMost: 200) ?? "none" }
}

/// Log lines of push services, at most one a minute of each kind, because an outage concerns each message.
final class PushLines: Sendable {
    enum Line: String, Hashable {
        case store = "push messages wait: the database cannot be read or written"
        case gone = "a device was removed: its push service does not know it any more"
        case refused = "a push message was refused and is not sent again; see docs/push.md"
        case later = "a push service takes no messages; they are sent later"
    }

    private struct State {
        var last: ContinuousClock.Instant
        var left = 0
    }

    private let logger: Logger
    private let states = Mutex<[Line: State]>([:])

    init(logger: Logger) { self.logger = logger }

    func log(_ line: Line, _ metadata: Logger.Metadata) {
        let now = ContinuousClock.now
        let left = states.withLock { states -> Int? in
            if let state = states[line], now - state.last < .seconds(60) {
                states[line]?.left += 1
                return nil
            }
            defer { states[line] = State(last: now) }
            return states[line]?.left ?? 0
        }
        guard let left else { return }
        var all = metadata
        if left > 0 { all["since_last_line"] = "\(left)" }
        logger.warning("\(line.rawValue)", metadata: all)
    }
}
