// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// The outcome of one reload of the configuration.
package enum ReloadResult: Equatable, Sendable {
    /// The file is in force, except for the keys in `waiting`, which need a restart.
    case applied(waiting: [String])
    /// Nothing has changed; the text names the problem and its place.
    case refused(problem: String)

    /// Whether the file is in force.
    package var isApplied: Bool {
        guard case .applied = self else { return false }
        return true
    }
}

/// Keeps the result and the time of the last reload for the status page and the metrics; any thread.
package final class LastReload: Sendable {
    /// A reload that has ended.
    package struct Entry: Equatable, Sendable {
        /// Its result.
        package let result: ReloadResult
        /// Seconds since 1970.
        package let at: Int64
    }

    private let state = Mutex<Entry?>(nil)
    private let now: @Sendable () -> Int64

    /// - Parameter now: seconds since 1970.
    package init(now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }) {
        self.now = now
    }

    /// The last reload; nil before the first one.
    package var entry: Entry? { state.withLock { $0 } }

    /// Keeps a result with the present time.
    package func record(_ result: ReloadResult) {
        let entry = Entry(result: result, at: now())
        state.withLock { $0 = entry }
    }
}
