// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Dispatch
import MetricsPage
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

    private struct State {
        var waiting: [any PendingWrite] = []
        var isScheduled = false
    }

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
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Self.window)) { [self] in
            pool.group { [self] in commit(take(), $0) }
        }
    }

    /// Records events in the next transaction; PostgreSQL records those of all requests at once.
    func record(_ events: EventBatch.Part) async throws -> [EventResponse] {
        try await withCheckedThrowingContinuation { continuation in
            enqueue(AwaitedWrite(events, continuation) { try EventLedger.record(events, $0) })
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
        var batches = session.connection.dialect == .postgreSQL
        while !group.isEmpty {
            var (current, hasBegun) = (group.startIndex, false)
            let began = ContinuousClock.now
            do {
                try session.transaction(writes: true) {
                    (current, hasBegun) = (group.startIndex, true)
                    let done = batches ? try recordEvents(of: group, session.connection) : []
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
            } catch  where batches && hasBegun {
                // One after another shows which write fails.
                batches = false
            } catch  where hasBegun && current < group.endIndex {
                group.remove(at: current).end(error)
            } catch {
                return group.forEach { $0.end(error) }
            }
        }
    }

    /// Records the events of a group at once; the places of their writes.
    private func recordEvents(
        of group: ArraySlice<any PendingWrite>, _ connection: any SQLConnection
    ) throws -> Set<Int> {
        guard let connection = connection as? PostgreSQLConnection else { return [] }
        let parts = group.indices.compactMap { place in group[place].events.map { (place, $0) } }
        if parts.isEmpty { return [] }
        let responses = try EventBatch.record(parts.map(\.1), connection)
        for (part, made) in zip(parts, responses) { group[part.0].take(made) }
        return Set(parts.map(\.0))
    }
}

/// A write of a group, with its type erased.
private protocol PendingWrite: Sendable {
    func run(_ database: any SQLConnection) throws
    /// The events that it records; nil for another write.
    var events: EventBatch.Part? { get }
    /// Takes the responses to its events.
    func take(_ responses: [EventResponse])
    /// Resumes the waiting request; the error is nil after the commit.
    func end(_ error: (any Error)?)
}

private final class AwaitedWrite<Value: Sendable>: PendingWrite {
    let events: EventBatch.Part?
    private let work: @Sendable (any SQLConnection) throws -> Value
    private let continuation: CheckedContinuation<Value, any Error>
    private let value = Mutex<Value?>(nil)

    init(
        _ events: EventBatch.Part?, _ continuation: CheckedContinuation<Value, any Error>,
        _ work: @escaping @Sendable (any SQLConnection) throws -> Value
    ) {
        self.events = events
        self.work = work
        self.continuation = continuation
    }

    func take(_ responses: [EventResponse]) { value.withLock { $0 = responses as? Value } }

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
