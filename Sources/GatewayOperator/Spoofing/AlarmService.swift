// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Foundation
import GatewayStore
import GatewaySync
import Host
package import Logging
import Primitives
import ServiceLifecycle

/// Reads the ledger once an hour for spoofed numbers of brands, aside of the calls.
///
/// Each alarm is one log line and one digest a day. A digest that the webhook did not take is sent again after five minutes,
/// without another reading of the ledger.
package struct AlarmService: Service {
    private let folder: String
    private let settings: @Sendable () -> HeraldConfiguration.Alarms
    private let ledger: LedgerQueue
    private let standing: AlarmStanding
    private let logger: Logger
    /// Replaced by tests.
    var time = ServiceClock.system

    /// Days that are read: today's digest may be late by the end of its day.
    static let days: Int64 = 2
    /// Seconds between two readings.
    private static let interval: Int64 = 3600

    /// - Parameters:
    ///   - ledger: a queue of its own, so that no page waits for a reading.
    ///   - folder: the state folder, for the keys of sent digests.
    ///   - settings: those in force.
    package init(
        _ ledger: LedgerQueue, folder: String, standing: AlarmStanding, logger: Logger,
        settings: @escaping @Sendable () -> HeraldConfiguration.Alarms
    ) {
        (self.ledger, self.folder, self.standing, self.logger) = (ledger, folder, standing, logger)
        self.settings = settings
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var rounds = AlarmRounds(folder: folder)
            // A start has more urgent reads.
            try? await time.sleep(.seconds(60))
            while !Task.isCancelled {
                let isDone = await round(&rounds)
                try? await time.sleep(.seconds(isDone ? Self.interval : 300))
            }
        }
    }

    /// Reads the alarms if the last reading is an hour old, logs new ones and sends their digests.
    ///
    /// - Returns: false if a reading or a digest failed.
    func round(_ rounds: inout AlarmRounds) async -> Bool {
        let settings = settings()
        let now = time.now()
        guard settings.isEnabled else {
            (rounds.reading, rounds.logged) = (nil, [])
            standing.read([], at: now)
            return true
        }
        if let reading = rounds.reading, time.steady() - reading.steady < Self.interval {
            standing.read(reading.alarms, at: reading.at)
        } else {
            rounds.reading = nil
            do {
                let alarms = try await ledger.spoofingAlarms(settings, days: Self.days, now: now)
                rounds.reading = .init(alarms: alarms, at: now, steady: time.steady())
                standing.read(alarms, at: now)
            } catch is CancellationError {
                return false
            } catch {
                standing.add(problem: "the ledger cannot be read: \(error)")
                return false
            }
        }
        let alarms = rounds.reading?.alarms ?? []
        log(alarms, &rounds)
        guard let webhook = settings.webhook else { return true }
        return await send(alarms, to: webhook, &rounds, at: now)
    }

    private func log(_ alarms: [SpoofingAlarm], _ rounds: inout AlarmRounds) {
        for alarm in alarms where rounds.logged.insert(alarm.key).inserted {
            let brand = TerminalText.visible(alarm.brand)
            logger.warning(
                "numbers of brand \(brand) arrive in an unusual way: \(TerminalText.visible(alarm.sentence)); see herald alarms",
                metadata: ["kind": "\(alarm.kind.rawValue)", "day": "\(OperatorTime.day(alarm.day))"])
        }
        rounds.logged.formIntersection(alarms.map(\.key))
    }

    private func send(
        _ alarms: [SpoofingAlarm], to webhook: HeraldConfiguration.Webhook, _ rounds: inout AlarmRounds, at now: Int64
    ) async -> Bool {
        let due = alarms.filter { !rounds.sent.contains($0.key) }
        guard !due.isEmpty else { return true }
        let client = CallWebhook(url: webhook.url, secret: webhook.secret.reveal(), key: "alarms.webhook")
        let keys = Set(alarms.map(\.key))
        var isDone = true
        for alarm in due {
            do {
                try await client.send(Data(try Output.line(json: alarm.json).utf8), callID: alarm.key, now: now)
                standing.count(sent: true)
                try rounds.sent.add(alarm.key, keeping: keys)
            } catch {
                standing.count(sent: false)
                standing.add(problem: "\(error)")
                logger.error("\(error)")
                isDone = false
                // A digest that the receiver refuses must not keep the others waiting.
                if (error as? CallWebhookError)?.isRefusal != true { break }
            }
        }
        await client.shutdown()
        return isDone
    }
}

/// The memory of the rounds of `AlarmService`.
struct AlarmRounds {
    /// Keys of alarms that the log has.
    var logged: Set<String> = []
    var sent: SentDigests
    /// The last reading; nil if it failed.
    var reading: Reading?

    /// The alarms of a reading with its time.
    struct Reading {
        let alarms: [SpoofingAlarm]
        /// Seconds since 1970.
        let at: Int64
        /// Seconds of the steady clock.
        let steady: Int64
    }

    init(folder: String) { sent = SentDigests(folder: folder) }
}
