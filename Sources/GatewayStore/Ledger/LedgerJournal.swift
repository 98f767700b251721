// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Timers

/// An open call in memory, with its row in the ledger.
final class LedgerCall {
    /// Its place in the ledger; another one where the ledger is another.
    fileprivate(set) var row: Int64
    /// The call identifier as text, made once.
    let callID: String
    var machine: OutcomeMachine
    var shownEvent: Int64?
    var endEvent: Int64?
    /// The clock its end is told by (`LedgerClock`); nil for the first one and while it is open.
    var endClock: Int64?
    /// True once the row is in the database.
    var isStored: Bool
    /// True while it waits in the batch.
    var isInBatch = false
    /// True while the journal keeps it where the carrier's next try is looked for.
    var isKeptForRedial = false
    /// When it ends by itself, and the timer that comes then or before; nil where nothing waits for it (`CallDeadlines`).
    var deadline: Int64?
    var timer: (handle: TimerHandle, at: Int64)?

    /// The name signals know it by: of its latest attempt.
    var name: CallIdentifier { machine.record.name }

    init(row: Int64, callID: String, record: CallRecord, isStored: Bool, awaitsRedial: Bool = false) {
        self.row = row
        self.callID = callID
        machine = OutcomeMachine(record, awaitsRedial: awaitsRedial)
        self.isStored = isStored
    }
}

/// What one transaction will store: everything some signals changed, and the ring position after them.
struct LedgerBatch {
    var calls: [LedgerCall] = []
    var events: [(id: Int64, event: OutcomeEvent)] = []
    /// Outbound calls that reached the other side: perhaps returns.
    var reachedOutbound: [LedgerCall] = []
    /// Those whose INVITE is told by a clock that was set since.
    var retimed: [LedgerCall] = []
    /// Those whose called number got more digits.
    var dialledOn: [LedgerCall] = []
    /// Each time the clock was set.
    var clocks: [LedgerClock] = []
    /// Callers of ended calls whom the index did not know.
    var unknownCallers: [E164Number] = []
    /// Position in the ring up to which the batch has been read.
    var position: UInt64
    var signals = 0

    var isEmpty: Bool { signals == 0 && calls.isEmpty && clocks.isEmpty }
}

/// The calls in progress and what their signals make of them; no database in here.
///
/// The batch grows with every round until it is stored. One that could not be stored stays and is tried again before any
/// further signal is taken, so memory and disk never tell different stories and the ring keeps what came after.
struct LedgerJournal {
    private(set) var open: [CallIdentifier: LedgerCall] = [:]
    private(set) var batch: LedgerBatch
    /// The database has refused the batch; no further signal may be taken.
    private(set) var isRefused = false
    /// Signals that belonged to no open call: repetitions, calls whose INVITE was shed.
    private(set) var unclaimed = 0

    private let minter: EventMinter
    private let limits: OutcomeMachine.Limits
    /// Names by the mark of the trunk.
    var trunks: [UInt16: String]
    private var nextCall: Int64
    private var nextEvent: Int64
    private var ended: EndedCalls
    /// Calls that ended before any phone rang, which the carrier may try again under another Call-ID.
    private var failed: [RedialPair: LedgerCall] = [:]
    private var deadlines = CallDeadlines()
    /// When those that ended lately were looked at last.
    private var lastForgetting = Int64(0)
    /// Steps of the clock, oldest first, before which the ring still holds unread signals.
    private(set) var clockSteps: [ClockStep] = []
    /// Ring position at the last look at the clock.
    var lookedAt: UInt64
    /// The number of the present clock; 0 until one was set.
    private var clock: Int64

    /// Goes on with the calls and row numbers the ledger was left with.
    init(
        _ state: LedgerState, position: UInt64, minter: EventMinter, limits: OutcomeMachine.Limits,
        trunks: [UInt16: String]
    ) {
        batch = LedgerBatch(position: position)
        lookedAt = position
        nextCall = state.nextCall
        nextEvent = state.nextEvent
        clock = state.clock
        ended = EndedCalls(state.ended)
        self.minter = minter
        self.limits = limits
        self.trunks = trunks
        for call in state.calls {
            open[call.name] = call
            noteRedial(of: call)
            deadlines.follow(call, limits: limits)
        }
    }

    /// Takes one signal.
    mutating func apply(_ signal: CallSignal, texts: CallTexts?) {
        batch.signals += 1
        let signal = clockSteps.reduce(signal) { $1.retimed($0, at: batch.position) }
        if let call = call(of: signal) {
            if signal.kind == .invite, begins(signal, texts: texts, after: call) { return }
            note(call.machine.receive(signal), of: call)
        } else if signal.kind == .invite {
            begin(signal, texts: texts)
        } else {
            unclaimed += 1
        }
    }

    private func call(of signal: CallSignal) -> LedgerCall? {
        if let call = open[signal.call] { return call }
        guard case .callIfSentByCallee(let call) = signal.counterpart else { return nil }
        return open[call]
    }

    /// Notes how far the ring has been read.
    mutating func reached(_ position: UInt64) {
        batch.position = position
        clockSteps.removeAll { $0.position <= position }
    }

    /// Goes on by a wall clock that was set: what calls in progress have told, and what the ring holds of before, is told by
    /// it.
    mutating func clockWasSet(_ step: ClockStep) {
        clockSteps.append(step)
        clock += 1
        batch.clocks.append(LedgerClock(id: clock, setBy: step.microseconds, at: step.noticedAt))
        for call in open.values {
            let change = call.machine.clockWasSet(by: step.microseconds, now: step.noticedAt)
            guard !change.isEmpty else { continue }
            note(change, of: call)
            batch.retimed.append(call)
        }
        ended.clockWasSet(by: step.microseconds)
    }

    /// Closes calls whose end will not be told any more at `now`, microseconds since 1970.
    mutating func sweep(now: Int64) {
        while let call = deadlines.popDue(by: now) {
            note(call.machine.expire(now: now, limits: limits), of: call)
        }
        guard now - lastForgetting >= 5_000_000 || now < lastForgetting else { return }
        lastForgetting = now
        ended.forget(at: now)
    }

    /// Notes that the database refuses.
    mutating func refused() { isRefused = true }

    /// Forgets the batch: it is stored.
    ///
    /// - Parameter events: number of events the store added on its own (returned calls).
    mutating func stored(addedEvents events: Int64) {
        for call in batch.calls {
            call.isStored = true
            call.isInBatch = false
        }
        nextEvent += events
        isRefused = false
        batch = LedgerBatch(position: batch.position)
    }

    /// Goes on with another ledger: what the present one had of calls in progress, and what it has not stored, goes there.
    ///
    /// An event that shows a call in progress is minted again: nobody knows whether it was sent, and its key is the same.
    mutating func move(to state: LedgerState) {
        nextCall = state.nextCall
        nextEvent = state.nextEvent
        var names: [Int64: Int64] = [:]
        for place in batch.events.indices {
            names[batch.events[place].id] = nextEvent
            batch.events[place].id = nextEvent
            nextEvent += 1
        }
        let there = Dictionary(state.calls.map { ($0.name, $0) }) { first, _ in first }
        batch.calls += open.values.filter { !$0.isInBatch }.sorted { $0.row < $1.row }
        deadlines = CallDeadlines()
        for call in batch.calls {
            let known = there[call.name]
            call.isInBatch = true
            call.isStored = known != nil
            call.row = known?.row ?? nextCall
            if known == nil { nextCall += 1 }
            call.shownEvent = call.shownEvent.flatMap { names[$0] } ?? known?.shownEvent
            call.endEvent = call.endEvent.flatMap { names[$0] } ?? known?.endEvent
            if call.shownEvent == nil, call.machine.record.displayEvidence != nil,
                let event = minter.displayed(call.machine.record, callID: call.callID)
            {
                call.shownEvent = add(event)
            }
            (call.deadline, call.timer) = (nil, nil)
            deadlines.follow(call, limits: limits)
        }
        for call in state.calls where open[call.name] == nil && !batch.calls.contains(where: { $0.name == call.name }) {
            open[call.name] = call
            deadlines.follow(call, limits: limits)
        }
        (batch.retimed, batch.dialledOn) = ([], [])
        refused()
    }

    /// Row number of the next event the store adds on its own.
    var firstFreeEvent: Int64 { nextEvent }

    /// Begins another call where one of its name ended at somebody else's phone, or waits in vain there, and goes on with the
    /// same where its number was dialled on.
    private mutating func begins(_ signal: CallSignal, texts: CallTexts?, after call: LedgerCall) -> Bool {
        let record = CallRecord(signal, texts: texts, trunk: trunks[signal.trunk])
        if dialsOn(record, call) { return true }
        guard !record.called.isEmpty, record.called != call.machine.record.called else { return false }
        let step = call.machine.leftForAnother()
        guard !step.isEmpty else { return false }
        note(step, of: call)
        begin(signal, texts: texts)
        return true
    }

    /// Notes the digits that 484 has asked for; false where the INVITE brings none.
    private mutating func dialsOn(_ record: CallRecord, _ call: LedgerCall) -> Bool {
        let before = call.machine.record
        let step = call.machine.dialled(on: record)
        guard !step.isEmpty else { return false }
        // A late repetition of the earlier INVITE begins no other call.
        ended.note(call.name, to: before.called, endedAt: before.refusedAt ?? record.inviteAt)
        note(step, of: call)
        batch.dialledOn.append(call)
        return true
    }

    private mutating func begin(_ signal: CallSignal, texts: CallTexts?) {
        var record = CallRecord(signal, texts: texts, trunk: trunks[signal.trunk])
        if ended.contains(record.name) {
            guard !ended.contains(record.name, to: record.called) else {
                unclaimed += 1
                return
            }
            record.becomeAnother()
        }
        if goesOn(record) { return }
        let call = LedgerCall(
            row: nextCall, callID: record.call.description, record: record, isStored: false,
            awaitsRedial: limits.redial > 0)
        nextCall += 1
        open[record.name] = call
        if let event = minter.passedThrough(record, callID: call.callID) { call.endEvent = add(event) }
        note(.changed, of: call)
    }

    /// Joins an INVITE to the call it is another attempt of: the same pair and decision, no phone rung, seconds ago.
    private mutating func goesOn(_ record: CallRecord) -> Bool {
        guard limits.redial > 0, let pair = RedialPair(record), let call = failed[pair],
            let refusedAt = call.machine.record.refusedAt,
            // Less than nothing where the clock was set back: then nobody knows.
            (0..<limits.redial).contains(record.inviteAt - refusedAt)
        else { return false }
        let earlier = call.name
        let step = call.machine.redialled(as: record.name, sipCallID: record.sipCallID, at: record.inviteAt)
        guard !step.isEmpty else { return false }
        // What is still said of the earlier attempt, such as its repeated answer, is not about this one.
        open[earlier] = nil
        ended.note(earlier, to: record.called, endedAt: refusedAt)
        open[record.name] = call
        note(step, of: call)
        return true
    }

    private mutating func note(_ step: OutcomeMachine.Step, of call: LedgerCall) {
        guard !step.isEmpty else { return }
        noteRedial(of: call)
        deadlines.follow(call, limits: limits)
        if !call.isInBatch {
            call.isInBatch = true
            batch.calls.append(call)
        }
        if step.contains(.reached) {
            if call.machine.record.direction == .outbound {
                batch.reachedOutbound.append(call)
            } else if let event = minter.displayed(call.machine.record, callID: call.callID) {
                call.shownEvent = add(event)
            }
        }
        if step.contains(.ended) {
            call.endClock = clock == 0 ? nil : clock
            if let event = minter.ended(call.machine.record, callID: call.callID) {
                call.endEvent = add(event)
            }
            let record = call.machine.record
            if record.direction == .inbound, record.reason == .noMatch, let caller = record.caller {
                batch.unknownCallers.append(caller)
            }
            open[call.name] = nil
            if let endedAt = record.endedAt { ended.note(call.name, to: record.called, endedAt: endedAt) }
        }
    }

    /// Keeps a call where the carrier's next try finds it, as long as it waits for one.
    private mutating func noteRedial(of call: LedgerCall) {
        let awaits = call.machine.isOpenToRedial
        guard awaits || call.isKeptForRedial, let pair = RedialPair(call.machine.record) else { return }
        call.isKeptForRedial = awaits
        if awaits {
            failed[pair] = call
        } else if failed[pair] === call {
            failed[pair] = nil
        }
    }

    private mutating func add(_ event: OutcomeEvent) -> Int64 {
        defer { nextEvent += 1 }
        batch.events.append((nextEvent, event))
        return nextEvent
    }
}

/// Who calls whom, and with what decision: what two attempts of one call have in common.
private struct RedialPair: Hashable {
    let caller: E164Number
    let called: String
    let reason: PassThroughReason?

    /// Nil for calls that could be two strangers': outbound, withheld, or to nobody known.
    init?(_ record: CallRecord) {
        guard record.direction == .inbound, let caller = record.caller, !record.called.isEmpty else { return nil }
        (self.caller, called, reason) = (caller, record.called, record.reason)
    }
}
