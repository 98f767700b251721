// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Host
import Logging
import ServiceLifecycle
import Synchronization

/// Completes imports that an earlier program left behind, and ends long works when the server stops.
///
/// A stop waits for no import. One that is being read has changed nothing; one that is being merged goes on at the next
/// start.
struct LongWorkService: Service {
    let database: DirectoryDatabase
    /// Seconds since 1970.
    let now: @Sendable () -> Int64
    let logger: Logger

    /// Time between two looks, for imports of commands that were killed.
    static let interval = Duration.seconds(60)

    func run() async throws {
        let work = database.longWork
        work.resume()
        defer { work.stop() }
        let isOver = lookForDamage()
        defer { isOver.set() }
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                var reported: String?
                while !Task.isShuttingDownGracefully, !Task.isCancelled {
                    reported = await round(reported)
                    try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
                }
            } onGracefulShutdown: {
                work.stop()
            }
        } onCancel: {
            work.stop()
        }
    }

    /// Reads the whole database for damage, on a thread below all others; returns the flag that ends it.
    ///
    /// The record of the database has the result, and `StoreWatch` reports it.
    private func lookForDamage() -> LookEnd {
        let end = LookEnd()
        _ = OwnThread.start("herald-check", niceness: 10) { [database, logger] in
            do {
                try database.lookForDamage(WorkTurn { if end.isSet { throw CancellationError() } })
            } catch is CancellationError {
                // The server ends.
            } catch {
                logger.error("the database could not be checked for damage", metadata: ["error": "\(error)"])
            }
        }
        return end
    }

    /// Completes the imports; returns the problem, which is logged once.
    private func round(_ reported: String?) async -> String? {
        do {
            let finished = try await database.longWork.run { [database, now] turn in
                try LeftBehindMerges(database, turn: turn, now: now).finish()
            }
            for merge in finished {
                logger.notice(
                    "an import whose program had ended is complete",
                    metadata: ["changed": "\(merge.changed)", "deactivated": "\(merge.deactivated)"])
            }
            return nil
        } catch {
            if Task.isShuttingDownGracefully || Task.isCancelled { return nil }
            let problem = database.trouble(of: error) ?? "\(error)"
            if problem != reported {
                logger.error(
                    "an import whose program had ended cannot be completed, and is tried again each minute",
                    metadata: ["problem": "\(problem)"])
            }
            return problem
        }
    }
}

/// The flag that ends the look for damage.
private final class LookEnd: Sendable {
    private let flag = Atomic<Bool>(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
}
