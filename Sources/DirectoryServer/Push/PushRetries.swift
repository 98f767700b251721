// SPDX-License-Identifier: Apache-2.0

/// The schedule of attempts for one delivery.
///
/// It ends with the lifetime of the message. A push service that names a time is not asked before it.
enum PushRetries {
    /// Seconds after the first, second and later attempts; the last one repeats.
    static let pauses: [Int64] = [10, 30, 120, 300, 900, 1_800, 3_600]

    /// Seconds until the next attempt.
    ///
    /// - Parameters:
    ///   - attempts: attempts so far, 1 or more.
    ///   - after: the time that the push service named.
    ///   - share: a random part from 0 to 1, so that devices of one outage do not return at once.
    static func pause(after attempts: Int, _ after: Duration?, share: Double) -> Int64 {
        let pause = pauses[min(max(attempts, 1), pauses.count) - 1]
        let spread = pause + Int64(Double(pause) * 0.25 * share)
        let asked = after.map { min(max($0.components.seconds, 0), 86_400) } ?? 0
        return max(spread, asked + Int64(Double(min(asked, 60)) * 0.25 * share))
    }
}
