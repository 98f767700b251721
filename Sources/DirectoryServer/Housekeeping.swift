// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import Host
import Logging
import ServiceLifecycle
import Synchronization

/// Background work of the server, once a minute and in small batches, so that requests do not wait.
///
/// Removal by age and the end of registrations wait until the clock has been stable for an hour, because a clock in the
/// wrong year makes everything old.
final class Housekeeping: Service {
    private let database: DirectoryDatabase
    private let retention: @Sendable () -> Retention
    private let now: @Sendable () -> Int64
    private let clockSteps: Mutex<ClockStepDetector>
    private let logger: Logger
    /// The accounts of the day that were logged already.
    private let loggedQuotas = Mutex<(day: String, accounts: Set<String>)>(("", []))

    /// - Parameter now: seconds since 1970.
    init(
        database: DirectoryDatabase, retention: @escaping @autoclosure @Sendable () -> Retention,
        now: @escaping @Sendable () -> Int64,
        clockSteps: ClockStepDetector = .init(), logger: Logger
    ) {
        self.database = database
        self.retention = retention
        self.now = now
        self.clockSteps = Mutex(clockSteps)
        self.logger = logger
    }

    func run() async throws {
        // `try?`: after a cancelled sleep the loop ends by its condition, after one more round.
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(60)) }
            await round()
        }
    }

    /// Does all work once; a failure is logged and retried in the next round.
    func round() async {
        do {
            try await database.writeKeyUsage()
            try await database.writeUnchangedResponses()
            try await logQuotas()
            // One node of a shared database does the rest for all.
            guard try await database.takesLease("housekeeping") else { return }
            if clockHasStood {
                try await removeAll { try await Registrations.expire(in: database, now: now()) }
                try await removeAll { try await retention().removeBatch(now: now()) }
                try await removeAll { try await PushOutbox(database).removeOld(now: now()) }
            }
            try await removeAll { try await UploadExpiry(database: database).removeBatch(now: now()) }
        } catch is CancellationError {
            // The server ends; the next start continues.
        } catch {
            logger.error("housekeeping failed and will be retried", metadata: ["error": "\(error)"])
        }
    }

    /// Warns once a day for each account at its daily limit.
    private func logQuotas() async throws {
        guard database.storedPerDay > 0 else { return }
        let day = String(Timestamp.string(from: now()).prefix(10))
        let full = try await AccountQuota.accountsAtLimit(on: day, in: database)
        let new = loggedQuotas.withLock { logged in
            if logged.day != day { logged = (day, []) }
            return full.filter { logged.accounts.insert($0).inserted }
        }
        for account in new {
            logger.warning(
                "account reached events.mb_per_day; raise the limit, or remove a misused key",
                metadata: ["account": "\(account)"])
        }
    }

    private var clockHasStood: Bool {
        clockSteps.withLock { steps in
            _ = steps.step(of: { now() * 1_000_000 })
            return steps.hasStood(for: .seconds(3_600))
        }
    }

    /// Removes batches until none is left.
    private func removeAll(_ removeBatch: () async throws -> Bool) async throws {
        while try await removeBatch(), !Task.isCancelled, !Task.isShuttingDownGracefully {
            // Between two batches the writer is free for events.
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
