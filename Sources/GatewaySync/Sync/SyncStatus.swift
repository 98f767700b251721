// SPDX-License-Identifier: Apache-2.0

/// Status of the sync, for the status page, metrics and the operator. A copy; any thread.
package struct SyncStatus: Hashable, Sendable {
    /// Result of the last sync.
    package enum Result: String, Hashable, Sendable {
        /// No sync has ended since the start.
        case none
        case succeeded
        /// The directory refused the key. Branding has stopped.
        case unauthorised
        /// Any other failure. The last dataset is in use.
        case failed
    }

    package var result = Result.none
    /// True if the last sync requested the whole set.
    package var wasFull = false
    /// Seconds since 1970, of this run or an earlier one.
    package var lastSuccess: Int64?
    package var lastFullSuccess: Int64?
    /// Time of the last success of this run, in seconds of the steady clock.
    var succeededAt: Int64?
    /// Time of the next sync, seconds since 1970; nil during a sync.
    package var nextAt: Int64?
    /// The directory's `synced_at` of the last success.
    package var cursor: String?
    /// Rows written and removed by the last success, and records stored after it.
    package var written = 0
    package var removed = 0
    package var records = 0
    package var generation: Int64 = 0
    /// Rejected items of the last response, by reason.
    package var rejected: [String: Int] = [:]
    /// Text of the last failure; nil after a success.
    package var lastError: String?
    package var failuresInARow = 0
    /// Successes since the start. The directory may count each as a delivery.
    package var successes = 0
    package var failures = 0
}

/// Intervals of the sync services.
package struct SyncSchedule: Hashable, Sendable {
    /// Time between successful syncs, spread by ± 10 %.
    package var interval: Duration = .seconds(1800)
    /// True if the directory's remote configuration may set another interval.
    package var intervalIsOpen = false
    /// Longest time between requests for the whole set: incremental responses show no deletions.
    package var fullRefresh: Duration = .seconds(86_400)
    /// Time between heartbeats.
    package var presence: Duration = .seconds(300)
    /// First wait after a failed sync. It doubles up to the interval.
    package var retry: Duration = .seconds(30)
    /// True if each sync is acknowledged with a POST.
    package var acknowledges = false

    package init() {}
}
