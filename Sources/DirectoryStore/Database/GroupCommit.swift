// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Host
import PostgreSQL
import Synchronization

/// Commits small writes of many requests in one transaction; each write returns after it is on disk.
///
/// A commit waits for the disk, so a thousand requests a second cannot have a commit each. The first write waits
/// `window`, and all writes of that time share a commit. A failed write is removed and the others run again, so no
/// request fails because of another. A write may therefore run more than once and must change nothing but the database.
/// Thread-safe.
final class GroupCommit: Sendable {
    /// Milliseconds for which the first write waits for others.
    static let window = 5
    /// Most writes in the queue; more are refused as `busy`, which limits memory when the disk is too slow.
    static let limit = 10_000
    /// Most repetitions of a group because of other programs.
    private static let mostConflicts = 8

    private struct State {
        var waiting: [any PendingWrite] = []
        var isScheduled = false
    }

    /// A serial queue has a thread of its own; tasks that work cannot delay a commit.
    private static let queue = DispatchQueue(label: "herald.directory.commits")

    private let pool: any SQLPool
    private let state = Mutex(State())
    /// Times of transactions that commit.
    let times = DurationHistogram(.request)

    init(_ pool: any SQLPool) { self.pool = pool }

    /// Runs `work` in the next transaction.
    ///
    /// - Throws: errors of `work`, a database error, or `StoreError.busy` when the queue is full.
    @discardableResult
    func write<Value: Sendable>(_ work: @escaping @Sendable (any SQLConnection) throws -> Value) async throws -> Value {
        // The write is not cancelled with its request: it shares a transaction, and its sender retries with the same
        // key.
        try await withCheckedThrowingContinuation { continuation in
            enqueue(AwaitedWrite(nil, continuation, work))
        }
    }

    private func enqueue(_ write: any PendingWrite) {
        guard let isFirst = add(write) else { return write.end(StoreError.busy) }
        guard isFirst else { return }
        Self.queue.asyncAfter(deadline: .now() + .milliseconds(Self.window)) { [self] in
            pool.group { [self] in commit(take(), $0) }
        }
    }

    /// Makes a write in the next transaction, together with those of other requests.
    func write<Write: SharedWrite>(_ write: Write) async throws -> Write.Value {
        try await withCheckedThrowingContinuation { continuation in
            let alone = AwaitedWrite(write, continuation) { database in
                guard let value = try Write.run([write], database).first else {
                    throw InconsistentStore(description: "a write has no value")
                }
                return value
            }
            enqueue(alone)
        }
    }

    /// Writes that wait for a transaction.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// True for the first write of a group; nil when the queue is full.
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

    private func commit(_ group: [any PendingWrite], _ session: any SQLSession) {
        var group = group[...]
        var batches = true
        var conflicts = 0
        while !group.isEmpty {
            var (current, hasBegun, isTogether) = (group.startIndex, false, false)
            let began = ContinuousClock.now
            do {
                try session.transaction(writes: true) {
                    (current, hasBegun, isTogether) = (group.startIndex, true, batches)
                    let done = batches ? try runTogether(group, session.connection) : []
                    isTogether = false
                    while current < group.endIndex {
                        if !done.contains(current) { try group[current].run(session.connection) }
                        current += 1
                    }
                    return true
                }
                times.record(ContinuousClock.now - began)
                return group.forEach { $0.end(nil) }
            } catch  where (error as? PostgreSQLError)?.isOutage == true {
                return group.forEach { $0.end(error) }
            } catch is SharedWriteConflict where conflicts < Self.mostConflicts {
                conflicts += 1
            } catch  where isTogether {
                // One after another shows which write fails.
                batches = false
            } catch  where hasBegun && current < group.endIndex {
                group.remove(at: current).end(error)
            } catch {
                return group.forEach { $0.end(error) }
            }
        }
    }

    /// Makes the shared writes of a group at once, those of the first one's kind; their places.
    private func runTogether(
        _ group: ArraySlice<any PendingWrite>, _ connection: any SQLConnection
    ) throws -> Set<Int> {
        guard let first = group.lazy.compactMap(\.shared).first else { return [] }
        return try Self.runAll(like: first, group, connection)
    }

    private static func runAll<Write: SharedWrite>(
        like _: Write, _ group: ArraySlice<any PendingWrite>, _ connection: any SQLConnection
    ) throws -> Set<Int> {
        let writes = group.indices.compactMap { place in (group[place].shared as? Write).map { (place, $0) } }
        let values = try Write.run(writes.map(\.1), connection)
        for (write, value) in zip(writes, values) { group[write.0].take(value) }
        return Set(writes.map(\.0))
    }
}

/// A write that is made together with those of other requests, in fewer statements.
protocol SharedWrite: Sendable {
    associatedtype Value: Sendable

    /// Makes one or several writes, as if one after another; returns their values in their order.
    ///
    /// - Throws: `SharedWriteConflict` if the transaction has to run again, or an error of one of the writes.
    static func run(_ writes: [Self], _ database: any SQLConnection) throws -> [Value]
}

/// Another program has changed what a write depends on since the transaction read it.
struct SharedWriteConflict: Error {}

/// A write of a group, with its type erased.
private protocol PendingWrite: Sendable {
    func run(_ database: any SQLConnection) throws
    /// Nil for a write that runs alone.
    var shared: (any SharedWrite)? { get }
    /// Takes the value of a shared write.
    func take(_ value: any Sendable)
    /// Resumes the waiting request; the error is nil after the commit.
    func end(_ error: (any Error)?)
}

private final class AwaitedWrite<Value: Sendable>: PendingWrite {
    let shared: (any SharedWrite)?
    private let work: @Sendable (any SQLConnection) throws -> Value
    private let continuation: CheckedContinuation<Value, any Error>
    private let value = Mutex<Value?>(nil)

    init(
        _ shared: (any SharedWrite)?, _ continuation: CheckedContinuation<Value, any Error>,
        _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) {
        self.shared = shared
        self.work = work
        self.continuation = continuation
    }

    func take(_ value: any Sendable) { self.value.withLock { $0 = value as? Value } }

    func run(_ database: any SQLConnection) throws {
        let made = try work(database)
        value.withLock { $0 = made }
    }

    func end(_ error: (any Error)?) {
        if let error { return continuation.resume(throwing: error) }
        guard let value = value.withLock({ $0 }) else { return continuation.resume(throwing: StoreError.busy) }
        continuation.resume(returning: value)
    }
}
