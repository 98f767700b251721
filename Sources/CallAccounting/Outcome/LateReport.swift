// SPDX-License-Identifier: Apache-2.0

extension CallRecord {
    /// The least time by which a late report is earlier than the known message, if that is a repetition of it.
    ///
    /// The first repetition of a 2xx comes after T1, 500 ms (RFC 3261 §13.3.1.4). Two copies of one report differ by less.
    private static let leastGain: Int64 = 400_000

    /// The record of an ended call with a message that another gateway saw before the end and reported after it; nil if the
    /// message proves nothing new.
    ///
    /// A gateway that died reports the last messages it saw once it is back. Such a 180 proves that a phone rang, and a 183
    /// does if the call ended so. An earlier 2xx is the first one, of which only a repetition was seen. Outcome and end stay, because they were reported.
    public func corrected(byLate update: CallUpdate) -> CallRecord? {
        let time = update.wallMicroseconds
        guard let endedAt, update.call == name, inviteAt <= time, time <= endedAt else { return nil }
        // The phone of an INVITE without a brand shows none.
        if isBranded, !isReached, update.reason != nil { return nil }
        var record = self
        // The report of a 180 may seem later than that of the 2xx by the difference of two clocks.
        let rangAt = min(time, answeredAt ?? time)
        func isNews(_ time: Int64, _ known: Int64?) -> Bool { known.map { $0 - time >= Self.leastGain } ?? true }
        switch (update.kind, update.status) {
        case (.provisional, 180) where isNews(rangAt, ringingAt): record.ringingAt = rangAt
        case (.provisional, 183) where isNews(rangAt, progressAt): record.progressAt = rangAt
        case (.answered, _) where answeredAt != nil && isNews(time, answeredAt):
            record.answeredAt = time
            record.machine = update.marks.machine ?? machine
        default: return nil
        }
        if update.marks.contains(.forwarded) { record.isForwarded = true }
        return record
    }
}
