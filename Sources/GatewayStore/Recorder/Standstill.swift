// SPDX-License-Identifier: Apache-2.0

/// Detects that the process was stopped: a message that waited in its sockets has the time of the reading.
///
/// A sibling that got a repetition has forwarded it long before, and so has its report. The recorder reads the ring after
/// these reports, because updates of one call are applied in the order of their times. Microseconds of the monotonic clock.
struct Standstill {
    /// Time between two rounds that shows a stop.
    static let longest: Int64 = 5_000_000
    /// Time after a stop in which siblings report; they repeat a report after two seconds at most.
    static let reports: Int64 = 4_000_000

    private var endedAt: Int64?
    private var resumedAt: Int64?

    /// Records the begin of a round of the recorder.
    mutating func begin(at now: Int64) {
        if let endedAt, now - endedAt >= Self.longest { resumedAt = now }
    }

    /// Records its end; a slow disk is no stop.
    mutating func end(at now: Int64) { endedAt = now }

    /// Whether siblings may still report what they saw during a stop.
    func isRecent(at now: Int64) -> Bool { resumedAt.map { now - $0 < Self.reports } ?? false }
}
