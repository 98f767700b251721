// SPDX-License-Identifier: Apache-2.0

import CallAccounting

extension ClusterJournal {
    /// Applies steps that move calls and events.
    func apply(_ steps: [Handover], of batch: UInt64, to journal: inout LedgerJournal) {
        defer { handover.batch = batch }
        for step in steps { applyRedial(step, to: &journal) }
        guard steps.contains(where: { !$0.isOfRedial }) else { return }
        var calls = Dictionary(journal.open.values.map { ($0.callID, $0) }) { first, _ in first }
        var kept: [CallIdentifier: [ForeignUpdate]] = [:]
        let names = steps.compactMap { step -> CallIdentifier? in
            if case .adopt(let row) = step { LedgerCallRow(row).record?.name } else { nil }
        }
        if !names.isEmpty { kept = handover.kept?.updates(of: Set(names)) ?? [:] }
        let away = Dictionary(handover.away.values.map { ($0.callID, $0) }) { first, _ in first }
        for step in steps {
            switch step {
            case .adopt(let row):
                guard let call = adopt(row, calls, away, &journal) else { continue }
                calls[call.callID] = call
                for update in kept[call.name] ?? [] { applyForeign(update, to: &journal) }
            case .lend(let callID):
                if let call = calls.removeValue(forKey: callID) { lend(call, &journal) }
            case .close(let row):
                guard let callID = row.text("call_id"), let call = calls[callID] ?? away[callID],
                    let record = LedgerCallRow(row).record
                else { continue }
                let unknown = call.machine.record.facts.filter { record.corrected(byLate: $0) != nil }
                handover.away[call.name] = nil
                handover.ended(call)
                journal.close(call) { $0.ended(elsewhere: record) }
                // The adopter does not know what passed here last.
                if isShared { for fact in unknown { report(fact, &journal) } }
            case .send(let row): self.batch.takenEvents.append((journal.newEvent(), row))
            case .tryElsewhere, .endWithoutRedial: break
            }
        }
    }

    /// Goes on with a call of another gateway; nil for one that has ended here.
    private func adopt(
        _ row: ForeignRow, _ calls: [String: LedgerCall], _ away: [String: LedgerCall], _ journal: inout LedgerJournal
    ) -> LedgerCall? {
        guard let record = LedgerCallRow(row).record, record.endedAt == nil else { return nil }
        let callID = record.call.description
        if let own = calls[callID] {
            // Both gateways had its INVITE, or each that of another called number; this one's row is shown from now on.
            journal.mark(.changed, of: own)
            journal.mark(own.machine.decided(also: record), of: own)
            for party in record.parties { journal.mark(own.machine.called(also: party), of: own) }
            return own
        }
        if let own = away[callID] {
            handover.away[own.name] = nil
            journal.goOn(with: own)
            for update in record.facts { applyForeign(ForeignUpdate(seenHere: update), to: &journal) }
            return own
        }
        guard !handover.isAdopted(callID) else { return nil }
        let call = journal.newCall(record)
        batch.adopted.append((call, row.gateway))
        if !record.alsoCalled.isEmpty { journal.batch.renumbered.append(call) }
        journal.goOn(with: call)
        handover.adopt(call, from: row.gateway)
        return call
    }

    /// Leaves a call to the gateway that goes on with it, and reports to that gateway what was seen here.
    private func lend(_ call: LedgerCall, _ journal: inout LedgerJournal) {
        journal.takeOut(call)
        handover.lend(call)
        reported += call.machine.record.facts.map { ReportedUpdate(update: $0, isOwn: false) }
    }

    /// Applies an update to a call of this gateway, or reports it to the gateway that has the call.
    func report(_ update: CallUpdate, _ journal: inout LedgerJournal) {
        if let call = journal.open[update.call] { return journal.mark(call.machine.receive(update), of: call) }
        batch.signals.append(update)
    }
}

extension LedgerJournal {
    /// Goes on with a call that no update of the ring begins: one of another gateway, or one that was away.
    fileprivate mutating func goOn(with call: LedgerCall) {
        open[call.name] = call
        inherited.insert(call.name)
        mark(.changed, of: call)
    }

    /// Takes a call out of those in progress; it ends elsewhere.
    fileprivate mutating func takeOut(_ call: LedgerCall) {
        if let pair = call.redialPair, failed[pair] === call {
            failed[pair] = nil
        }
        call.redialPair = nil
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
        rememberEnd(of: call.machine.record, inRow: call.row)
    }
}
