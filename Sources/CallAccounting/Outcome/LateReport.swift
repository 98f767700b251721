// SPDX-License-Identifier: Apache-2.0

extension CallRecord {
    /// Whether the other side of the call alerted or sent a 2xx; of an inbound call, with its name on a display.
    package var isReached: Bool {
        direction == .outbound ? alertedAt != nil || answeredAt != nil : displayEvidence != nil
    }

    /// The record of an ended call with a message that another gateway saw before the end and reported after it; nil if the
    /// message proves nothing new.
    ///
    /// A gateway that died reports the last messages it saw once it is back. Such a 180 or 183 proves that a phone rang. An
    /// earlier 2xx or BYE is the first one, of which only a repetition was seen. The outcome stays, because it was reported.
    package func corrected(byLate update: CallUpdate) -> CallRecord? {
        let time = update.wallMicroseconds
        guard let endedAt, update.call == name, inviteAt <= time, time <= endedAt else { return nil }
        var record = self
        func earlier(_ known: Int64?) -> Int64? {
            // Its clock may be a little ahead of the one that timed the 2xx.
            let time = min(time, answeredAt ?? time)
            return known.map { min($0, time) } ?? time
        }
        switch (update.kind, update.status) {
        case (.provisional, 180): record.ringingAt = earlier(ringingAt)
        case (.provisional, 182...183): record.progressAt = earlier(progressAt)
        case (.answered, _):
            guard let answeredAt, time < answeredAt else { return nil }
            record.answeredAt = time
            record.machine = update.marks.machine ?? machine
        case (.bye, _):
            // A forked INVITE has further dialogs, whose BYE comes long before the end of the call.
            guard let answeredAt, answeredAt <= time, endedAt - time <= CallStateMachine.Limits.repetition else {
                return nil
            }
            (record.endedAt, record.endIsKnown) = (time, true)
        default: return nil
        }
        if update.marks.contains(.forwarded) { record.isForwarded = true }
        return record == self ? nil : record
    }
}
