// SPDX-License-Identifier: Apache-2.0

import Host

/// Recognises responses to this run's own reports, and reads the sibling's clock from them.
///
/// A recorded datagram is no sign of life: a response counts once, and only if its report was sent in the last seconds.
struct SiblingPulse: Sendable {
    /// A report that was responded to.
    struct Exchange {
        /// The monotonic clock here when the report was sent, in microseconds.
        let sentAt: Int64
        /// Whether no later report was responded to before.
        let isNewest: Bool
    }

    /// Most reports that wait for a response.
    private static let mostOpen = 512

    private var last: UInt64 = 0
    private var open: [(number: UInt64, at: Int64)] = []
    private var newest: UInt64 = 0
    /// The sibling's monotonic clock.
    private var clock = ClockEstimate()

    /// Milliseconds of the monotonic clock at which the last report was sent that the sibling has responded to.
    private(set) var livedAt: Int64?
    /// The sibling's wall clock less this one's, in microseconds; nil before the first response.
    private(set) var clockOffset: Int64?

    /// The number of a report that is sent now.
    mutating func number(at now: SiblingLink.Now) -> UInt64 {
        open.removeAll { now.microseconds - $0.at > SiblingLink.silence * 1_000 }
        if open.count >= Self.mostOpen { open.removeFirst() }
        last += 1
        open.append((last, now.microseconds))
        return last
    }

    /// The report of a response; nil if none waits for one.
    mutating func exchange(of response: SiblingDatagram, at now: SiblingLink.Now) -> Exchange? {
        guard let place = open.firstIndex(where: { $0.number == response.number }) else { return nil }
        let report = open.remove(at: place)
        guard now.microseconds - report.at <= SiblingLink.silence * 1_000 else { return nil }
        defer { newest = max(newest, report.number) }
        return Exchange(sentAt: report.at, isNewest: report.number > newest)
    }

    /// Reads life and clock of the sibling from a response.
    mutating func measure(_ response: SiblingDatagram, _ exchange: Exchange, at now: SiblingLink.Now) {
        livedAt = max(livedAt ?? .min, exchange.sentAt / 1_000)
        clock.measure(response.steadyAt, sent: exchange.sentAt, received: now.microseconds)
        guard let offset = clock.offset, exchange.isNewest else { return }
        clockOffset = response.sentAt - response.steadyAt - (now.wallMicroseconds - now.microseconds) + offset
    }

    /// Microseconds that a report was on its way, as the two monotonic clocks show; 0 before the first response.
    func delay(of report: SiblingDatagram, at now: SiblingLink.Now) -> Int64 {
        clock.offset.map { max(0, now.microseconds + $0 - report.steadyAt) } ?? 0
    }

    /// Begins with another process of the sibling, maybe after a restart of its machine.
    mutating func begin() { clock = ClockEstimate() }
}
