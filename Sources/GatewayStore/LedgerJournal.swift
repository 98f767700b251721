// SPDX-License-Identifier: Apache-2.0

import Branding
import Gateway

/// An open call in memory, with its row in the ledger.
final class LedgerCall {
    let row: Int64
    /// The call identifier as text, made once.
    let callID: String
    var machine: OutcomeMachine
    var shownEvent: Int64?
    var endEvent: Int64?
    /// True once the row is in the database.
    var isStored: Bool
    /// True while it waits in the batch.
    var isInBatch = false

    init(row: Int64, callID: String, record: CallRecord, isStored: Bool) {
        self.row = row
        self.callID = callID
        machine = OutcomeMachine(record)
        self.isStored = isStored
    }
}

/// What one transaction will store: everything some signals changed, and the ring position after them.
struct LedgerBatch {
    var calls: [LedgerCall] = []
    var events: [(id: Int64, event: OutcomeEvent)] = []
    /// Outbound calls that reached the other side: perhaps returns.
    var reachedOutbound: [LedgerCall] = []
    /// Callers of ended calls whom the index did not know.
    var unknownCallers: [E164Number] = []
    var position: UInt64
    var signals = 0

    var isEmpty: Bool { signals == 0 && calls.isEmpty }
}

/// The calls in progress and what their signals make of them; no database in here.
///
/// A batch that could not be stored stays and is tried again before any further signal is taken, so memory and disk
/// never tell different stories and the ring keeps what came after.
struct LedgerJournal {
    private(set) var open: [CallIdentifier: LedgerCall] = [:]
    private(set) var batch: LedgerBatch
    /// Signals that belonged to no open call: repetitions, calls whose INVITE was shed.
    private(set) var unclaimed = 0

    private let minter: EventMinter
    private let limits: OutcomeMachine.Limits
    /// Names by the mark of the trunk.
    var trunks: [UInt16: String]
    private var nextCall: Int64
    private var nextEvent: Int64
    /// Calls that ended lately: a late repetition of their INVITE begins no new call.
    private var ended: [CallIdentifier: Int64] = [:]
    private var lastSweep: Int64 = 0

    /// Goes on with the open calls and row numbers the ledger was left with.
    init(
        calls: [LedgerCall], nextCall: Int64, nextEvent: Int64, position: UInt64, minter: EventMinter,
        limits: OutcomeMachine.Limits, trunks: [UInt16: String]
    ) {
        for call in calls { open[call.machine.record.call] = call }
        batch = LedgerBatch(position: position)
        self.nextCall = nextCall
        self.nextEvent = nextEvent
        self.minter = minter
        self.limits = limits
        self.trunks = trunks
    }

    /// Takes one signal.
    mutating func apply(_ signal: CallSignal, texts: CallTexts?) {
        batch.signals += 1
        if let call = open[signal.call] ?? (signal.kind == .bye ? open[signal.alternative] : nil) {
            note(call.machine.receive(signal), of: call)
        } else if signal.kind == .invite, ended[signal.call] == nil {
            begin(signal, texts: texts)
        } else {
            unclaimed += 1
        }
    }

    /// Notes how far the ring has been read.
    mutating func reached(_ position: UInt64) { batch.position = position }

    /// Closes calls whose end will not be told any more, every five seconds of `now` (microseconds since 1970).
    mutating func sweep(now: Int64) {
        guard now - lastSweep >= 5_000_000 || now < lastSweep else { return }
        lastSweep = now
        for call in open.values { note(call.machine.expire(now: now, limits: limits), of: call) }
        // 64 × T1: nobody repeats an INVITE for longer, RFC 3261 §17.1.1.2.
        ended = ended.filter { now - $0.value < 32_000_000 }
    }

    /// Forgets the batch: it is stored.
    ///
    /// - Parameter events: number of events the store added on its own (returned calls).
    mutating func stored(addedEvents events: Int64) {
        for call in batch.calls {
            call.isStored = true
            call.isInBatch = false
        }
        nextEvent += events
        batch = LedgerBatch(position: batch.position)
    }

    /// Row number of the next event the store adds on its own.
    var firstFreeEvent: Int64 { nextEvent }

    private mutating func begin(_ signal: CallSignal, texts: CallTexts?) {
        let trunk = trunks[signal.trunk]
        let record = CallRecord(signal, texts: texts, trunk: trunk)
        let call = LedgerCall(row: nextCall, callID: record.call.description, record: record, isStored: false)
        nextCall += 1
        open[record.call] = call
        if let event = minter.passedThrough(record, callID: call.callID) { call.endEvent = add(event) }
        note(.changed, of: call)
    }

    private mutating func note(_ step: OutcomeMachine.Step, of call: LedgerCall) {
        guard !step.isEmpty else { return }
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
            if let event = minter.ended(call.machine.record, callID: call.callID) {
                call.endEvent = add(event)
            }
            let record = call.machine.record
            if record.direction == .inbound, record.reason == .noMatch, let caller = record.caller {
                batch.unknownCallers.append(caller)
            }
            let identifier = call.machine.record.call
            open[identifier] = nil
            ended[identifier] = call.machine.record.endedAt
        }
    }

    private mutating func add(_ event: OutcomeEvent) -> Int64 {
        defer { nextEvent += 1 }
        batch.events.append((nextEvent, event))
        return nextEvent
    }
}
