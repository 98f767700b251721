// SPDX-License-Identifier: Apache-2.0

import Dispatch
import GRDB
import Synchronization

/// Small writes of many requests in one transaction, of which each returns only after it is on disk.
///
/// A commit waits for the disk, and a thousand requests a second cannot each have one of their own. So the first write
/// waits `window` for others, and all that came by then share a commit. One that fails is taken out, and the others run
/// again without it: no request suffers from its neighbours. A write may therefore run more than once, and must do
/// nothing beside the database. Any thread.
final class GroupCommit: Sendable {
    /// Milliseconds for which a write waits for company.
    static let window = 5
    /// Most writes that wait; more are refused as `busy`, so that memory stays bounded when the disk does not keep up.
    static let limit = 10_000

    private struct State {
        var waiting: [any PendingWrite] = []
        var isScheduled = false
    }

    private let pool: DatabasePool
    private let state = Mutex(State())

    init(_ pool: DatabasePool) { self.pool = pool }

    /// Does `work` in the next transaction.
    ///
    /// - Throws: what `work` throws, a database error, or `StoreError.busy` when too many wait.
    func write<Value: Sendable>(_ work: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        // Not cancelled with its request: it is in a group with others, and its sender comes again with the same key.
        try await withCheckedThrowingContinuation { continuation in
            let write = AwaitedWrite(work, continuation)
            guard let isFirst = add(write) else { return write.end(StoreError.busy) }
            guard isFirst else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Self.window)) { [self] in
                pool.asyncWriteWithoutTransaction { [self] in commit(take(), $0) }
            }
        }
    }

    /// True for the first of a group; nil when too many wait.
    private func add(_ write: any PendingWrite) -> Bool? {
        state.withLock { state in
            guard state.waiting.count < Self.limit else { return nil }
            state.waiting.append(write)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
    }

    private func take() -> [any PendingWrite] {
        state.withLock { state in
            defer { state = State() }
            return state.waiting
        }
    }

    private func commit(_ group: [any PendingWrite], _ database: Database) {
        var group = group[...]
        while !group.isEmpty {
            var (current, hasBegun) = (group.startIndex, false)
            do {
                try database.inTransaction(.immediate) {
                    hasBegun = true
                    while current < group.endIndex {
                        try group[current].run(database)
                        current += 1
                    }
                    return .commit
                }
                return group.forEach { $0.end(nil) }
            } catch  where hasBegun && current < group.endIndex {
                group.remove(at: current).end(error)
            } catch {
                return group.forEach { $0.end(error) }
            }
        }
    }
}

/// A write of a group, whatever its value is.
private protocol PendingWrite: Sendable {
    func run(_ database: Database) throws
    /// Tells who waits; nil after the commit.
    func end(_ error: (any Error)?)
}

private final class AwaitedWrite<Value: Sendable>: PendingWrite {
    private let work: @Sendable (Database) throws -> Value
    private let continuation: CheckedContinuation<Value, any Error>
    private let value = Mutex<Value?>(nil)

    init(
        _ work: @escaping @Sendable (Database) throws -> Value, _ continuation: CheckedContinuation<Value, any Error>
    ) {
        self.work = work
        self.continuation = continuation
    }

    func run(_ database: Database) throws {
        let made = try work(database)
        value.withLock { $0 = made }
    }

    func end(_ error: (any Error)?) {
        if let error { return continuation.resume(throwing: error) }
        guard let value = value.withLock({ $0 }) else { return continuation.resume(throwing: StoreError.busy) }
        continuation.resume(returning: value)
    }
}
