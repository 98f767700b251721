// SPDX-License-Identifier: Apache-2.0

/// Detects that this process did not run for a while, as under SIGSTOP, so that what it reads has waited for an unknown time.
///
/// A thread that runs in rounds records them. Times are milliseconds of the monotonic clock.
public struct ProcessPause: Sendable {
    /// Time without a round that shows a pause.
    private let shortest: Int64
    /// Time after a pause in which its consequences last.
    private let consequences: Int64
    private var roundAt: Int64?
    private var recentUntil: Int64?

    /// - Parameters:
    ///   - shortest: milliseconds without a round that show a pause; more than the longest wait between two rounds.
    ///   - consequences: milliseconds after a pause for which `isRecent` is true.
    public init(of shortest: Int64 = 2_000, lasting consequences: Int64 = 500) {
        (self.shortest, self.consequences) = (shortest, consequences)
    }

    /// Records the begin of a round.
    public mutating func round(at now: Int64) {
        if isNow(now) { recentUntil = now + consequences }
        roundAt = now
    }

    /// Records the end of a round whose own work, such as a slow disk, is no pause.
    public mutating func roundEnded(at now: Int64) { roundAt = now }

    /// Whether what is read now may have waited.
    public func isRecent(at now: Int64) -> Bool { isNow(now) || recentUntil.map { now < $0 } ?? false }

    private func isNow(_ now: Int64) -> Bool { roundAt.map { now - $0 >= shortest } ?? false }
}
