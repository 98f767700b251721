// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Timers

/// Open calls by the time at which each ends unless something is heard of it.
///
/// A look costs what is due, however many calls are open: asking each of 100,000 every five seconds grew with them. Some 100
/// bytes a call. Times are wall clock, microseconds since 1970, kept as whole milliseconds that are never early. One thread.
struct CallDeadlines {
    private var wheel = TimerWheel(now: 0)
    /// By row in the ledger, which is what a timer carries.
    private var calls: [Int64: LedgerCall] = [:]
    private var lastLook = Int64.min

    /// Notes when a call ends by itself as its record is now; one that has ended is followed no more.
    ///
    /// Nearly all that is heard of a call moves its deadline away, and nearly every call ends before: a timer that would come
    /// too early stays, and is laid out anew when it does.
    mutating func follow(_ call: LedgerCall, limits: OutcomeMachine.Limits) {
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

    /// Takes out the next call that is due at `now`; nil when none is left.
    ///
    /// Where the clock was set back all are laid out anew: a timer that came too early would be due for ever.
    mutating func popDue(by now: Int64) -> LedgerCall? {
        let present = Self.milliseconds(now)
        if now < lastLook {
            wheel = TimerWheel(now: present)
            for call in calls.values { if let deadline = call.deadline { schedule(call, at: deadline) } }
        }
        lastLook = now
        // The wheel stops now and then where many timers move, which the call path needs and the recorder does not.
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
