// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Primitives

/// Open calls by their deadlines: a call without further updates ends at its deadline.
///
/// A look costs time for due calls alone, however many are open. Some 100 bytes a call. Times are wall clock,
/// microseconds since 1970, rounded up to milliseconds. One thread.
struct CallDeadlines {
    private var wheel = TimerWheel(now: 0)
    /// Calls by row in the ledger, which is the identifier of a timer.
    private var calls: [Int64: LedgerCall] = [:]
    private var lastLook = Int64.min

    /// Updates the deadline of a call after a change of its record; an ended call is removed.
    ///
    /// Most updates move the deadline away, and most calls end before it. So an early timer stays, and is scheduled
    /// again when it fires.
    mutating func follow(_ call: LedgerCall, limits: CallStateMachine.Limits) {
        let deadline = call.machine.deadline(limits)
        guard deadline != call.deadline else { return }
        call.deadline = deadline
        guard let deadline else {
            stop(call)
            calls[call.row] = nil
            return
        }
        if let timer = call.timer, timer.at <= deadline { return }
        if call.timer == nil { calls[call.row] = call }
        stop(call)
        schedule(call, at: deadline)
    }

    /// Forgets a call that no longer ends here.
    mutating func remove(_ call: LedgerCall) {
        stop(call)
        calls[call.row] = nil
        call.deadline = nil
    }

    /// Takes out the next call that is due at `now`; nil when none is left.
    ///
    /// After a step back of the clock all timers are scheduled again.
    mutating func popDue(by now: Int64) -> LedgerCall? {
        let present = Self.milliseconds(now)
        if now < lastLook {
            wheel = TimerWheel(now: present)
            for call in calls.values { if let deadline = call.deadline { schedule(call, at: deadline) } }
        }
        lastLook = now
        // The wheel pauses while many timers move. The call path needs that; the recorder continues.
        while let next = wheel.nextDeadline, next <= present {
            guard let timer = wheel.popDue(by: present), let call = calls[Int64(bitPattern: timer.id)] else { continue }
            call.timer = nil
            if let deadline = call.deadline, Self.end(of: deadline) > present {
                schedule(call, at: deadline)
                continue
            }
            calls[call.row] = nil
            call.deadline = nil
            return call
        }
        return nil
    }

    private mutating func schedule(_ call: LedgerCall, at deadline: Int64) {
        call.timer = (
            wheel.schedule(at: Self.end(of: deadline), id: UInt64(bitPattern: call.row), kind: 0), deadline
        )
    }

    private mutating func stop(_ call: LedgerCall) {
        if let timer = call.timer { wheel.cancel(timer.handle) }
        call.timer = nil
    }

    /// The first whole millisecond that is not before a deadline.
    private static func end(of deadline: Int64) -> UInt64 { milliseconds(min(deadline, .max - 999) + 999) }

    private static func milliseconds(_ microseconds: Int64) -> UInt64 { UInt64(max(0, microseconds)) / 1_000 }
}
