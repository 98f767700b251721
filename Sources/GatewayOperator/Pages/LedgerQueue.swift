// SPDX-License-Identifier: Apache-2.0

import Dispatch
package import GatewayStore
import Synchronization

/// Reads the ledger on a queue of its own, one read at a time, and keeps the counts of the first page for a while.
package final class LedgerQueue: Sendable {
    /// Seconds for which counts are kept.
    private static let freshness: Int64 = 15

    private let reader: LedgerReader
    private let queue = DispatchQueue(label: "herald.pages")
    private let kept = Mutex<[CountSpan: (at: Int64, counts: SpanCounts)]>([:])

    package init(_ reader: LedgerReader) { self.reader = reader }

    /// Reads without holding a thread of the caller.
    func read<Value: Sendable>(_ work: @escaping @Sendable (LedgerReader) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { done in
            queue.async { [reader] in done.resume(with: Result { try work(reader) }) }
        }
    }

    /// Searches piece by piece. Each piece is queued anew, so other pages are read between two of them.
    ///
    /// - Parameter patience: the time after which no further piece is read; waits in the queue count.
    func search(_ filter: CallFilter, limit: Int, patience: Duration) async throws -> CallSearch {
        let end = ContinuousClock.now + patience
        var filter = filter
        var search = CallSearch()
        repeat {
            let missing = limit - search.calls.count
            let piece = try await read { [filter] in try $0.search(filter, limit: missing, patience: .zero) }
            search.calls += piece.calls
            search.rest = piece.rest
            guard let rest = piece.rest else { break }
            filter.before = rest.before
        } while ContinuousClock.now < end && !Task.isCancelled
        return search
    }

    /// Counts piece by piece, as `search` does.
    func counts(matching filter: CallFilter, patience: Duration) async throws -> CallCounts {
        let end = ContinuousClock.now + patience
        var filter = filter
        var counts = CallCounts()
        repeat {
            let piece = try await read { [filter] in try $0.counts(matching: filter, patience: .zero) }
            for (kind, count) in piece.counts {
                if counts.counts[kind]?.add(count) == nil { counts.counts[kind] = count }
            }
            counts.rest = piece.rest
            guard let rest = piece.rest else { break }
            filter.before = rest.before
        } while ContinuousClock.now < end && !Task.isCancelled
        return counts
    }

    /// The calls of a span: those of the last reading while they are fresh.
    ///
    /// - Parameter now: seconds since 1970.
    func counts(of span: CountSpan, at now: Int64) async throws -> SpanCounts {
        if let (at, counts) = kept.withLock({ $0[span] }), (0..<Self.freshness).contains(now - at) { return counts }
        let hours = span.hours(at: now)
        let counts = SpanCounts(span: span, hours: hours, counts: try await read { try $0.counts(of: hours) })
        kept.withLock { $0[span] = (now, counts) }
        return counts
    }
}
