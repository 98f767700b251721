// SPDX-License-Identifier: Apache-2.0

/// How the sync stands, for status, metrics and the operator; a copy, taken at any time from any thread.
package struct SyncStatus: Hashable, Sendable {
    /// How the last sync ended.
    package enum Result: String, Hashable, Sendable {
        /// None has ended since the start.
        case none
        case succeeded
        /// The directory refused the key; branding has stopped.
        case unauthorised
        /// Anything else; the last dataset is in use.
        case failed
    }

    package var result = Result.none
    /// True if the last sync asked for the whole set.
    package var wasFull = false
    /// Seconds since 1970, of this run of the program or an earlier one.
    package var lastSuccess: Int64?
    package var lastFullSuccess: Int64?
    /// When the last sync of this run succeeded, in seconds of a clock that nobody sets.
    var succeededAt: Int64?
    /// When the next sync is due, seconds since 1970; nil while one runs.
    package var nextAt: Int64?
    /// The directory's `synced_at` of the last success.
    package var cursor: String?
    /// Rows the last success wrote and removed, and records stored after it.
    package var written = 0
    package var removed = 0
    package var records = 0
    package var generation: Int64 = 0
    /// Items of the last answer that were left out, by reason.
    package var rejected: [String: Int] = [:]
    /// Text of the last failure; nil after a success.
    package var lastError: String?
    package var failuresInARow = 0
    /// Since the start of the program; each success is a delivery the directory may count.
    package var successes = 0
    package var failures = 0

    package init() {}
}

/// When the sync side does what.
package struct SyncSchedule: Hashable, Sendable {
    /// From one successful sync to the next, spread by ± 10 %.
    package var interval: Duration = .seconds(1800)
    /// True where the directory's remote configuration may set another interval.
    package var intervalIsOpen = false
    /// At least this often the whole set is asked for: deletions show in no incremental answer.
    package var fullRefresh: Duration = .seconds(86_400)
    /// Between heartbeats.
    package var presence: Duration = .seconds(300)
    /// First wait after a failed sync; it doubles up to the interval.
    package var retry: Duration = .seconds(30)
    /// Whether each sync is acknowledged with a POST.
    package var acknowledges = false

    package init() {}
}
