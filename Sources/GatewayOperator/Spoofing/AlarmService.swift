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
/// Each alarm is one log line and one digest a day. A digest that the webhook did not take is sent again after five minutes.
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
                try? await time.sleep(.seconds(isDone ? 3600 : 300))
            }
        }
    }

    /// Reads the alarms, logs new ones and sends their digests.
    ///
    /// - Returns: false if a reading or a digest failed.
    func round(_ rounds: inout AlarmRounds) async -> Bool {
        let settings = settings()
        let now = time.now()
        guard settings.isEnabled else {
            standing.read([], at: now)
            return true
        }
        let alarms: [SpoofingAlarm]
        do {
            alarms = try await ledger.read { try $0.spoofingAlarms(settings, days: Self.days, now: now) }
        } catch {
            standing.add(problem: "the ledger cannot be read: \(error)")
            return false
        }
        standing.read(alarms, at: now)
        for alarm in alarms where rounds.logged.insert(alarm.key).inserted {
            let brand = TerminalText.visible(alarm.brand)
            logger.warning(
                "numbers of brand \(brand) arrive in an unusual way: \(TerminalText.visible(alarm.sentence)); see herald alarms",
                metadata: ["kind": "\(alarm.kind.rawValue)", "day": "\(OperatorTime.day(alarm.day))"])
        }
        rounds.logged.formIntersection(alarms.map(\.key))
        guard let webhook = settings.webhook else { return true }
        return await send(alarms, to: webhook, &rounds, at: now)
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
                break
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

    init(folder: String) { sent = SentDigests(folder: folder) }
}
