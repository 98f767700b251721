// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Logging
import ServiceLifecycle
import Synchronization

/// Writes to the store every ten seconds, so that a full disk or a read-only folder shows before an event is refused.
///
/// Logs each change once.
final class StoreWatch: Service {
    /// Time between two writes.
    static let interval = Duration.seconds(10)
    /// Time after which a write that has not ended is a problem; longer than the merge of a large import.
    static let patience = Duration.seconds(90)

    private struct State {
        var problem: String?
        /// The begin of a write that has not ended.
        var began: ContinuousClock.Instant?
    }

    private let write: @Sendable () async throws -> Void
    private let damage: @Sendable () -> (problem: String, details: String)?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - write: writes once to the store.
    ///   - damage: the damage of the store that any request has found; nil for none.
    ///   - now: tests replace it.
    init(
        write: @escaping @Sendable () async throws -> Void,
        damage: @escaping @Sendable () -> (problem: String, details: String)? = { nil },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, logger: Logger
    ) {
        self.write = write
        self.damage = damage
        self.now = now
        self.logger = logger
    }

    /// Watches a database.
    convenience init(_ database: DirectoryDatabase, logger: Logger) {
        self.init(write: { try await database.probe() }, damage: { database.damage }, logger: logger)
    }

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            await look()
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
    }

    /// The reason why the store cannot be written, or its damage, with the remedy; nil normally.
    var problem: String? {
        if let damage = damage() { return damage.problem }
        let (problem, began) = state.withLock { ($0.problem, $0.began) }
        guard let began, case let wait = now() - began, wait > Self.patience else { return problem }
        return "a write has waited \(wait.components.seconds) s for the database; check the disk, and imports that run"
    }

    /// Writes once.
    func look() async {
        let began = now()
        state.withLock { $0.began = began }
        var problem: String?
        do {
            try await write()
        } catch is CancellationError {
            // The server ends.
        } catch {
            problem = "\(error)"
        }
        let damage = damage()
        problem = damage?.problem ?? problem
        let before = state.withLock { [problem] state in
            defer { state = State(problem: problem) }
            return state.problem
        }
        guard problem != before else { return }
        if let problem {
            logger.error(
                damage == nil ? "the store cannot be written" : "the store is damaged",
                metadata: ["problem": "\(damage?.details ?? problem)"])
        } else {
            logger.notice("the store can be written again")
        }
    }
}
