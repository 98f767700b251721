// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting

/// The calls in progress and the changes that their updates make; it uses no database.
///
/// A batch that could not be stored stays, and is tried again before any further update is applied. So memory and disk
/// never differ, and the ring keeps the later updates.
struct LedgerJournal {
    private(set) var open: [CallIdentifier: LedgerCall] = [:]
    private(set) var batch: LedgerBatch
    /// The database has refused the batch; no further update may be applied.
    private(set) var isRefused = false
    /// Updates without an open call: retransmissions, calls whose INVITE was shed.
    private(set) var unclaimed = 0
    /// Applied updates for the siblings of the gateway; nil without siblings.
    var reported: [ReportedUpdate]?
    /// Updates that were reported to siblings before they were applied.
    private var early = EarlyReports()
    /// Updates of siblings.
    var foreign = ForeignJournal()
    /// Calls that have moved between gateways.
    var handover = HandoverJournal()
    /// Whether other gateways get what passes here of their calls through a shared ledger.
    var isShared = false
    /// Open calls that the call path of this process did not see begin: of an earlier run, and of other gateways.
    private var inherited: Set<CallIdentifier>
    /// End of the updates that an earlier run left in the ring.
    var inheritedEnd: UInt64 = 0

    private var minter: EventMinter
    private var limits: CallStateMachine.Limits
    /// Names by the mark of the trunk.
    var trunks: [UInt16: String]
    /// Names by the mark of the customer.
    var customers: CustomerNames
    private var nextCall: Int64
    private var nextEvent: Int64
    private(set) var ended: EndedCalls
    /// Calls that failed before any phone rang; the carrier may try again with another Call-ID.
    private var failed: [RedialPair: LedgerCall] = [:] { didSet { redials.isChanged = true } }
    /// Calls whose further attempts other gateways have.
    var redials = RedialJournal()
    private var deadlines = CallDeadlines()
    /// Time of the last look at the recently ended calls.
    private var lastForgetting = Int64(0)
    /// Steps of the clock with unread updates of before in the ring, oldest first.
    private(set) var clockSteps: [ClockStep] = []
    /// Ring position at the last look at the clock.
    var lookedAt: UInt64
    /// The number of the present clock; 0 until one was set.
    private var clock: Int64

    /// Continues with the calls and row numbers of the ledger.
    init(
        _ state: LedgerState, position: UInt64, minter: EventMinter, limits: CallStateMachine.Limits,
        trunks: [UInt16: String], customers: CustomerNames
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
        self.customers = customers
        inherited = Set(state.calls.map(\.name))
        for call in state.calls {
            open[call.name] = call
            recordRedial(of: call)
            deadlines.follow(call, limits: limits)
        }
        handover.begin(adopted: state.adopted, open: state.calls)
    }

    /// Takes over other settings for the next updates.
    mutating func use(_ settings: OutcomeRecorder.Settings, _ minter: EventMinter) {
        self.minter = minter
        limits = settings.limits
        isShared = settings.isShared
        trunks.merge(settings.trunks) { _, new in new }
        customers.merge(settings.customers)
    }

    /// Applies one update.
    mutating func apply(_ update: CallUpdate, texts: CallTexts?) {
        batch.updates += 1
        let update = clockSteps.reduce(update) { $1.retimed($0, at: batch.position) }
        if !foreign.waiting.isEmpty { applyForeign(before: update.wallMicroseconds) }
        let known = call(of: update)
        if reported != nil {
            let begins = update.kind == .invite && !handover.isAway(update.call)
            let isOwn = known != nil || begins
            if isOwn || !early.wasReported(update) { reported?.append(ReportedUpdate(update: update, isOwn: isOwn)) }
        }
        if let call = known {
            if update.kind == .invite, begins(update, texts: texts, after: call) { return }
            mark(call.machine.receive(update), of: call)
        } else if update.kind == .invite, !handover.isAway(update.call) {
            begin(update, texts: texts)
        } else {
            unclaimed += 1
            handover.keep(ForeignUpdate(seenHere: update))
            if isShared { batch.signals.append(update) }
        }
    }

    /// The number of open calls that the call path of this process does not count.
    mutating func countInherited() -> Int {
        if !inherited.isEmpty { inherited = inherited.filter { open[$0] != nil } }
        return inherited.count
    }

    /// Reports the waiting updates of calls that other gateways have, which need them before this ledger does.
    ///
    /// - Parameter read: passes the updates after a position, and returns the position reached.
    mutating func reportEarly(_ read: (UInt64, (CallUpdate) -> Void) -> UInt64) {
        guard reported != nil, !isRefused, clockSteps.isEmpty else { return }
        var found: [CallUpdate] = []
        early.position = read(max(early.position, batch.position)) { update in
            if early.isOfOther(update), call(of: update) == nil { found.append(update) }
        }
        for update in found {
            early.report(update)
            reported?.append(ReportedUpdate(update: update, isOwn: false))
        }
    }

    /// Records the position up to which the ring has been read.
    mutating func reached(_ position: UInt64) {
        batch.position = position
        early.applied(through: position)
        clockSteps.removeAll { $0.position <= position }
    }

    /// Shifts the times of calls in progress, and of unread updates from before the step, by a step of the clock.
    mutating func clockWasSet(_ step: ClockStep) {
        clockSteps.append(step)
        clock += 1
        batch.clocks.append(LedgerClock(id: clock, setBy: step.microseconds, at: step.noticedAt))
        for call in open.values {
            let change = call.machine.clockWasSet(by: step.microseconds, now: step.noticedAt)
            guard !change.isEmpty else { continue }
            mark(change, of: call)
            batch.retimed.append(call)
        }
        handover.clockWasSet(step)
        ended.clockWasSet(by: step.microseconds)
        for place in batch.signals.indices { batch.signals[place].wallMicroseconds &+= step.microseconds }
    }

    /// Closes calls whose deadline has passed at `now`, microseconds since 1970.
    mutating func sweep(now: Int64) {
        while let call = deadlines.popDue(by: now) {
            mark(call.machine.expire(now: now, limits: limits), of: call)
        }
        guard now - lastForgetting >= 5_000_000 || now < lastForgetting else { return }
        lastForgetting = now
        ended.forget(at: now)
    }

    /// Records that the database refuses the batch.
    mutating func refused() { isRefused = true }

    /// Begins the next batch after this one is stored.
    ///
    /// - Parameter events: number of events that the store added (returned calls).
    mutating func stored(addedEvents events: Int64) {
        for call in batch.calls {
            call.isStored = true
            call.isInBatch = false
        }
        nextEvent += events
        handover.stored(batch)
        isRefused = false
        batch = LedgerBatch(position: batch.position)
    }

    /// Moves to another ledger, with all calls in progress and the batch.
    ///
    /// A `displayed` event of a call in progress is minted again. It may have been sent, and its key is the same.
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
        for place in batch.takenEvents.indices {
            batch.takenEvents[place].id = nextEvent
            nextEvent += 1
        }
        // The other ledger does not know which calls were taken over.
        let isNew = Set(batch.adopted.map(\.call.callID))
        batch.adopted += open.values.filter { !isNew.contains($0.callID) }.compactMap { call in
            handover.origin(of: call).map { (call, $0) }
        }
        batch.renumbered = batch.calls.filter { !$0.machine.record.alsoCalled.isEmpty }
        (batch.retimed, batch.corrected, foreign.late) = ([], [], [])
        refused()
    }

    /// Row number of the next event that the store adds.
    var firstFreeEvent: Int64 { nextEvent }

    /// Records events that were stored beside a batch.
    mutating func added(events: Int64) { nextEvent += events }

    /// Handles an INVITE of an open call: more digits continue it, another destination ends it and begins a new call.
    ///
    /// False for a retransmission or an attempt with credentials.
    private mutating func begins(_ update: CallUpdate, texts: CallTexts?, after call: LedgerCall) -> Bool {
        let record = record(of: update, texts: texts)
        if dialsOn(record, call) { return true }
        guard !record.called.isEmpty, record.called != call.machine.record.called else { return false }
        let step = call.machine.abandonedForNextTarget()
        guard !step.isEmpty else {
            mark(call.machine.called(also: record.party), of: call)
            return false
        }
        mark(step, of: call)
        begin(update, texts: texts)
        return true
    }

    /// Records the digits that 484 asked for; false for an INVITE without more digits.
    private mutating func dialsOn(_ record: CallRecord, _ call: LedgerCall) -> Bool {
        let before = call.machine.record
        let step = call.machine.dialled(on: record)
        guard !step.isEmpty else { return false }
        // A late retransmission of the earlier INVITE begins no other call.
        ended.add(call.name, to: before.called, endedAt: before.refusedAt ?? record.inviteAt, row: call.row)
        mark(step, of: call)
        return true
    }

    private func record(of update: CallUpdate, texts: CallTexts?) -> CallRecord {
        CallRecord(update, texts: texts, trunk: trunks[update.trunk], customer: customers.name(of: update.customer))
    }

    private mutating func begin(_ update: CallUpdate, texts: CallTexts?) {
        var record = record(of: update, texts: texts)
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
            limits)
        nextCall += 1
        open[record.name] = call
        if batch.position < inheritedEnd { inherited.insert(record.name) }
        if let event = minter.passedThrough(record, callID: call.callID) { call.endEvent = add(event) }
        mark(.changed, of: call)
        // An INVITE that waited in a socket is later than the call that a sibling has carried meanwhile.
        for report in foreign.takeEarly(of: record.name) { applyForeign(report) }
    }

    /// Joins an INVITE to an earlier attempt: the same pair and decision, no phone rung, seconds ago.
    private mutating func goesOn(_ record: CallRecord) -> Bool {
        guard limits.redial > 0, !failed.isEmpty, let pair = RedialPair(record), let call = failed[pair],
            let refusedAt = call.machine.record.refusedAt,
            // Negative after a step back of the clock: then the order is unknown.
            (0..<limits.redial).contains(record.inviteAt - refusedAt)
        else { return false }
        let earlier = call.name
        let step = call.machine.redialled(as: record.name, sipCallID: record.sipCallID, at: record.inviteAt)
        guard !step.isEmpty else { return false }
        // Later updates of the earlier attempt, such as a repeated response, do not concern this one.
        open[earlier] = nil
        for party in call.machine.record.parties {
            ended.add(earlier, to: party.name, endedAt: refusedAt, row: call.row)
        }
        open[record.name] = call
        mark(step, of: call)
        return true
    }

    /// Stores another time of a call's INVITE.
    mutating func retime(_ call: LedgerCall) { batch.retimed.append(call) }

    mutating func mark(_ step: CallStateMachine.Step, of call: LedgerCall) {
        guard !step.isEmpty else { return }
        recordRedial(of: call)
        deadlines.follow(call, limits: limits)
        if !call.isInBatch {
            call.isInBatch = true
            batch.calls.append(call)
        }
        if step.contains(.parties) { batch.renumbered.append(call) }
        if step.contains(.reached) { reached(call) }
        if step.contains(.ended) {
            call.endClock = clock == 0 ? nil : clock
            if let event = minter.ended(call.machine.record, callID: call.callID) {
                call.endEvent = add(event)
            }
            let record = call.machine.record
            if record.direction == .inbound, record.reason == .noMatch, record.customer == nil,
                let caller = record.caller
            {
                batch.unknownCallers.append(caller)
            }
            open[call.name] = nil
            handover.ended(call)
            rememberEnd(of: call)
        }
    }

    private mutating func reached(_ call: LedgerCall) {
        if call.machine.record.direction == .outbound {
            batch.reachedOutbound.append(call)
        } else if call.shownEvent == nil, let event = minter.displayed(call.machine.record, callID: call.callID) {
            // An earlier version reported the 183 of a call that was in progress during the upgrade.
            call.shownEvent = add(event)
        }
    }

    /// Corrects a call that has ended.
    mutating func correct(_ call: LedgerCall, to record: CallRecord) {
        let wasReached = call.machine.record.isReached
        call.machine = CallStateMachine(record)
        batch.corrected.append(call)
        if record.isReached, !wasReached { reached(call) }
    }

    /// Goes on with a call that is in no update of the ring: one of another gateway.
    mutating func goOn(with record: CallRecord, from gateway: String) -> LedgerCall {
        let call = LedgerCall(
            row: nextCall, callID: record.call.description, record: record, isStored: false,
            limits)
        nextCall += 1
        batch.adopted.append((call, gateway))
        if !record.alsoCalled.isEmpty { batch.renumbered.append(call) }
        goOn(with: call)
        return call
    }

    /// Goes on with a call that was away.
    mutating func goOn(with call: LedgerCall) {
        open[call.name] = call
        inherited.insert(call.name)
        mark(.changed, of: call)
    }

    /// Takes a call out of those in progress; it ends elsewhere.
    mutating func takeOut(_ call: LedgerCall) {
        if call.isKeptForRedial, let pair = RedialPair(call.machine.record), failed[pair] === call {
            failed[pair] = nil
        }
        call.isKeptForRedial = false
        deadlines.remove(call)
        if open[call.name] === call { open[call.name] = nil }
    }

    /// Closes a call that has ended or goes on at another gateway; without an event.
    ///
    /// - Parameter end: ends the call; empty if it has ended.
    mutating func close(_ call: LedgerCall, by end: (inout CallStateMachine) -> CallStateMachine.Step) {
        takeOut(call)
        let step = end(&call.machine)
        guard !step.isEmpty else { return }
        call.isClosedElsewhere = true
        call.endClock = clock == 0 ? nil : clock
        mark(.changed, of: call)
        rememberEnd(of: call)
    }

    private mutating func rememberEnd(of call: LedgerCall) {
        let record = call.machine.record
        guard let endedAt = record.endedAt else { return }
        ended.add(call.name, to: record.called, endedAt: endedAt, row: call.row)
        for party in record.alsoCalled { ended.add(call.name, to: party.name, endedAt: endedAt, row: call.row) }
    }

    /// Applies an update to a call of this gateway, or reports it to the gateway that has the call.
    mutating func report(_ update: CallUpdate) {
        if let call = open[update.call] { return mark(call.machine.receive(update), of: call) }
        batch.signals.append(update)
    }

    /// The failed calls that wait for another attempt.
    var awaitedRedials: [AwaitedRedial] {
        failed.values.compactMap { AwaitedRedial($0.machine.record, window: limits.redial) }
    }

    /// Takes over an event that another gateway has not sent.
    mutating func take(event row: ForeignRow) {
        batch.takenEvents.append((nextEvent, row))
        nextEvent += 1
    }

    /// Keeps a call in the table of failed calls while it waits for the carrier's next attempt.
    private mutating func recordRedial(of call: LedgerCall) {
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
