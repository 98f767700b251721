// SPDX-License-Identifier: Apache-2.0

/// Shows whether this process was stopped, so that datagrams have waited in its socket for an unknown time.
///
/// A report carries the age of its updates at the moment of sending. One that has waited would move the end of a call
/// by the time of the stop. Without a response the sibling sends it again, with its present age.
struct ProcessPause: Sendable {
    /// Milliseconds between two rounds of the exchange that show a stop.
    static let longest: Int64 = 2_000
    /// Milliseconds after a stop in which waiting datagrams are read.
    static let reading: Int64 = 500

    private var roundAt: Int64?
    private var distrustedUntil: Int64?

    /// Records a round of the exchange; `now` is in milliseconds of the monotonic clock.
    mutating func round(at now: Int64) {
        if wasStopped(at: now) { distrustedUntil = now + Self.reading }
        roundAt = now
    }

    /// Whether a datagram that is read now may have waited.
    func makesOld(at now: Int64) -> Bool {
        wasStopped(at: now) || distrustedUntil.map { now < $0 } ?? false
    }

    private func wasStopped(at now: Int64) -> Bool { roundAt.map { now - $0 >= Self.longest } ?? false }
}
