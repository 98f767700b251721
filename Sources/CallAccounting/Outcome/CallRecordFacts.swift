// SPDX-License-Identifier: Apache-2.0

extension CallRecord {
    /// The events of the call that were seen here, as updates for the gateway that goes on with it.
    ///
    /// An update that is known there changes nothing.
    package var facts: [CallUpdate] {
        var facts: [CallUpdate] = []
        func add(_ kind: CallUpdate.Kind, _ time: Int64?, status: UInt16 = 0) {
            guard let time else { return }
            var update = CallUpdate(
                kind: kind, direction: direction, call: name, wallMicroseconds: max(0, time), status: status,
                reason: reason)
            if isForwarded { update.marks.insert(.forwarded) }
            if machine == .voicemail { update.marks.insert(.voicemail) }
            if machine == .system { update.marks.insert(.system) }
            if kind == .cancelled { (update.q850Cause, update.sipCause) = (q850Cause, sipCause) }
            if kind == .answered, !alsoCalled.isEmpty { update.calledMark = name.mark(ofCalled: called) }
            if kind == .answered, let sessionUntil, sessionUntil > time {
                update.sessionSeconds = UInt32(clamping: (sessionUntil - time) / 1_000_000)
            }
            facts.append(update)
        }
        add(.provisional, progressAt, status: 183)
        add(.provisional, ringingAt, status: 180)
        add(.failed, refusedAt, status: status)
        add(.answered, answeredAt, status: 200)
        add(.cancelled, cancelledAt)
        return facts.sorted { $0.wallMicroseconds < $1.wallMicroseconds }
    }
}
