// SPDX-License-Identifier: Apache-2.0

/// An output of ended calls; one task runs its rounds.
protocol CallRecordOutput: Sendable {
    /// Sends the calls that are due.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: when no call could be sent, or an error of the queue.
    mutating func round(at now: Int64) async throws -> CallOutputRound

    /// Closes connections; no round follows.
    func shutdown() async
}

/// The result of one round of an output.
struct CallOutputRound: Hashable, Sendable {
    /// Calls that were sent.
    var sent = 0
    /// Calls that were refused.
    var failed = 0
    /// Whether more calls may be due at once.
    var hasMore = false
}
