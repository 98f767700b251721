// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logging
import ServiceLifecycle

/// What the server does beside answering: once a minute, in small bites, never while a request waits for it.
struct Housekeeping: Service {
    let database: DirectoryDatabase
    let retention: Retention
    let now: @Sendable () -> Int64
    let logger: Logger

    func run() async throws {
        // `try?`: a cancelled sleep ends the loop by its condition, after a last round.
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(60)) }
            await round()
        }
    }

    /// One round of all work; a failure is logged and tried again in the next.
    func round() async {
        do {
            try await database.keyUsage.write(to: database.pool)
            try await takeAll { try await retention.bite(now: now()) }
            try await takeAll { try await UploadExpiry(database: database).bite(now: now()) }
        } catch is CancellationError {
            // The end of the server; the next start goes on.
        } catch {
            logger.error("housekeeping failed and will be tried again", metadata: ["error": "\(error)"])
        }
    }

    /// Takes bites until nothing is left.
    private func takeAll(_ bite: () async throws -> Bool) async throws {
        while try await bite(), !Task.isCancelled, !Task.isShuttingDownGracefully {
            // Between two bites the writer is there for events.
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
