// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Trust

/// The calls in progress and the changes that their updates make; it uses no database.
///
/// A batch that could not be stored stays, and is tried again before any further update is applied. So memory and disk
/// never differ, and the ring keeps the later updates.
struct LedgerJournal {
    var open: [CallIdentifier: LedgerCall] = [:]
    var batch: LedgerBatch
    /// The database has refused the batch; no further update may be applied.
    private(set) var isRefused = false
    /// Updates without an open call: retransmissions, calls whose INVITE was shed.
    private(set) var unclaimed = 0
    /// The part of a gateway with siblings or a shared ledger; nil for a gateway alone.
    var cluster: ClusterJournal?
    /// Open calls that the call path of this process did not see begin.
    var inherited: Set<CallIdentifier>
    /// End of the updates that an earlier run left in the ring.
    var inheritedEnd: UInt64 = 0

    private var minter: EventMinter
    private(set) var limits: CallStateMachine.Limits
    /// Names by the mark of the trunk.
    var trunks: [UInt16: String]
    /// Names by the mark of the customer.
    var customers: CustomerNames
    /// The signers that verdicts name by their row.
    private let signers: CurrentTrust
    private var nextCall: Int64
    private(set) var nextEvent: Int64
    private(set) var ended: EndedCalls
    /// Calls that failed before any phone rang; the carrier may try again with another Call-ID.
    var failed: [RedialPair: LedgerCall] = [:]
    var deadlines = CallDeadlines()
    /// Time of the last look at the recently ended calls.
    private var lastForgetting = Int64(0)
    /// Steps of the clock with unread updates of before in the ring, oldest first.
    private(set) var clockSteps: [ClockStep] = []
    /// Ring position at the last look at the clock.
    var lookedAt: UInt64
    /// The number of the present clock; 0 until one was set.
    private(set) var clock: Int64

    /// Continues with the calls and row numbers of the ledger.
    init(
        _ state: LedgerState, position: UInt64, minter: EventMinter, limits: CallStateMachine.Limits,
        trunks: [UInt16: String], customers: CustomerNames, signers: CurrentTrust
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
        self.signers = signers
        inherited = Set(state.calls.map(\.name))
        for call in state.calls {
            open[call.name] = call
            recordRedial(of: call)
            deadlines.follow(call, limits: limits)
        }
    }

    /// Takes over other settings for the next updates.
    mutating func use(_ settings: OutcomeRecorder.Settings, _ minter: EventMinter) {
        self.minter = minter
        limits = settings.limits
        trunks.merge(settings.trunks) { _, new in new }
        customers.merge(settings.customers)
    }

    /// Applies one update.
    mutating func apply(_ update: CallUpdate, texts: CallTexts?) {
        batch.updates += 1
        let update = clockSteps.reduce(update) { $1.retimed($0, at: batch.position) }
        cluster?.applyForeign(before: update.wallMicroseconds, to: &self)
        let known = call(of: update)
        let isInvite = update.kind == .invite
        guard cluster?.take(update, isOpen: known != nil) ?? (isInvite || known != nil) else {
            unclaimed += 1
            return
        }
        guard let call = known else { return begin(update, texts: texts) }
        if isInvite, begins(update, texts: texts, after: call) { return }
        mark(call.machine.receive(update), of: call)
    }

    /// The open call of an update, whichever side sent the message.
    func call(of update: CallUpdate) -> LedgerCall? {
        if let call = open[update.call] { return call }
        guard case .callIfSentByCallee(let call) = update.counterpart else { return nil }
        return open[call]
    }

    /// The number of open calls that the call path of this process does not count.
    mutating func countInherited() -> Int {
        if !inherited.isEmpty { inherited = inherited.filter { open[$0] != nil } }
        return inherited.count
    }

    /// Records the position up to which the ring has been read.
    mutating func reached(_ position: UInt64) {
        batch.position = position
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
        ended.clockWasSet(by: step.microseconds)
        cluster?.clockWasSet(step)
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

    /// Whether there is anything to store.
    var hasChanges: Bool { !batch.isEmpty || cluster?.batch.isEmpty == false }

    /// Begins the next batch after this one is stored.
    ///
    /// - Parameter events: number of events that the store added (returned calls).
    mutating func stored(addedEvents events: Int64) {
        for call in batch.calls {
            call.isStored = true
            call.isInBatch = false
        }
        nextEvent += events
        isRefused = false
        cluster?.stored()
        batch = LedgerBatch(position: batch.position)
    }

    /// Moves to another ledger, with all calls in progress and the batch.
    ///
    /// A `displayed` event of a call in progress is minted again. It may have been sent, and its key is the same.
    mutating func move(to state: LedgerState) {
        nextCall = state.nextCall
        nextEvent = state.nextEvent
        let names = batch.events.renumber(from: nextEvent)
        nextEvent += Int64(batch.events.count)
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
                let event = minter.displayed(call.machine.record, callID: call.callID, to: &batch.events.texts)
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
        batch.renumbered = batch.calls.filter {
            !$0.machine.record.alsoCalled.isEmpty || $0.machine.record.attempts > 1
        }
        batch.retimed = []
        cluster?.move(&self)
        refused()
    }

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
        CallRecord(
            update, texts: texts, trunk: trunks[update.trunk], customer: customers.name(of: update.customer),
            signer: update.trust.flatMap { signers.load().snapshot.signer(row: $0.signer) })
    }

    private mutating func begin(_ update: CallUpdate, texts: CallTexts?) {
        var record = record(of: update, texts: texts)
        if ended.contains(record.name) {
            // A PBX has one call under an identifier, whatever a repeated report has.
            guard !record.isByDoor, !ended.contains(record.name, to: record.called) else {
                unclaimed += 1
                return
            }
            record.becomeAnother()
        }
        if goesOn(record) { return }
        let call = newCall(record)
        open[record.name] = call
        if batch.position < inheritedEnd { inherited.insert(record.name) }
        if let event = minter.passedThrough(record, callID: call.callID, to: &batch.events.texts) {
            call.endEvent = add(event)
        }
        mark(.changed, of: call)
        cluster?.began(record.name, in: &self)
    }

    /// A call in the next row.
    mutating func newCall(_ record: consuming CallRecord) -> LedgerCall {
        defer { nextCall += 1 }
        return LedgerCall(row: nextCall, callID: record.call.description, record: record, isStored: false, limits)
    }

    /// Joins an INVITE to an earlier attempt: the same pair and decision, no phone rung, seconds ago.
    private mutating func goesOn(_ record: CallRecord) -> Bool {
        guard limits.redial > 0, !failed.isEmpty, !record.isByDoor, let pair = RedialPair(record),
            let call = failed[pair],
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

    /// Puts a changed call into the batch, with what follows from the change.
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
            let record = call.machine.record
            call.endClock = clock == 0 ? nil : clock
            if let event = minter.ended(record, callID: call.callID, to: &batch.events.texts) {
                call.endEvent = add(event)
            }
            if record.isUnknownCaller, let caller = record.caller {
                batch.unknownCallers.append((caller, record.customer))
            }
            open[record.name] = nil
            cluster?.handover.ended(call)
            rememberEnd(of: record, inRow: call.row)
        }
    }

    /// Reports that a call has reached the other side: it may be a return, or its display may not be reported yet.
    mutating func reached(_ call: LedgerCall) {
        if call.machine.record.direction == .outbound {
            batch.reachedOutbound.append(call)
        } else if call.shownEvent == nil,
            let event = minter.displayed(call.machine.record, callID: call.callID, to: &batch.events.texts)
        {
            // An earlier version reported the 183 of a call that was in progress during the upgrade.
            call.shownEvent = add(event)
        }
    }

    /// Keeps an ended call for late retransmissions of its INVITE.
    mutating func rememberEnd(of record: CallRecord, inRow row: Int64) {
        guard var endedAt = record.endedAt else { return }
        // A PBX may report a call long after its end. A repeated report then counts from now on, as for a call that ends later.
        if record.isByDoor { endedAt = .max / 2 }
        ended.add(record.name, to: record.called, endedAt: endedAt, row: row)
        for party in record.alsoCalled { ended.add(record.name, to: party.name, endedAt: endedAt, row: row) }
    }

    /// Keeps a call in the table of failed calls while it waits for the carrier's next attempt.
    private mutating func recordRedial(of call: LedgerCall) {
        guard call.redialPair != nil || call.machine.record.refusedAt != nil else { return }
        let pair = call.machine.isOpenToRedial ? RedialPair(call.machine.record) : nil
        // The next INVITE may have another decision, and with it another pair.
        if let kept = call.redialPair, kept != pair, failed[kept] === call { failed[kept] = nil }
        call.redialPair = pair
        if let pair { failed[pair] = call }
    }

    private mutating func add(_ event: MintedEvent) -> Int64 {
        let id = newEvent()
        batch.events.add(event, id: id)
        return id
    }

    /// The next row of an event.
    mutating func newEvent() -> Int64 {
        defer { nextEvent += 1 }
        return nextEvent
    }
}
