// SPDX-License-Identifier: Apache-2.0

import CallAccounting

extension LedgerJournal {
    /// Applies steps that move calls and events.
    mutating func apply(_ steps: [Handover], of batch: UInt64) {
        defer { handover.batch = batch }
        for step in steps { applyRedial(step) }
        guard steps.contains(where: { !$0.isOfRedial }) else { return }
        var calls = Dictionary(open.values.map { ($0.callID, $0) }) { first, _ in first }
        var kept: [CallIdentifier: [ForeignUpdate]] = [:]
        let names = steps.compactMap { step -> CallIdentifier? in
            if case .adopt(let row) = step { StoredCall(row).record?.name } else { nil }
        }
        if !names.isEmpty { kept = handover.kept?.updates(of: Set(names)) ?? [:] }
        let away = handover.awayByID
        for step in steps {
            switch step {
            case .adopt(let row):
                guard let call = adopt(row, calls, away) else { continue }
                calls[call.callID] = call
                for update in kept[call.name] ?? [] { applyForeign(update) }
            case .lend(let callID):
                if let call = calls.removeValue(forKey: callID) { lend(call) }
            case .close(let row):
                guard let callID = row.text("call_id"), let call = calls[callID] ?? away[callID],
                    let record = StoredCall(row).record
                else { continue }
                let unknown = call.machine.record.facts.filter { record.corrected(byLate: $0) != nil }
                handover.takeBack(call)
                handover.ended(call)
                close(call) { $0.ended(elsewhere: record) }
                // The adopter does not know what passed here last.
                if isShared { for fact in unknown { report(fact) } }
            case .send(let row): take(event: row)
            case .tryElsewhere, .endWithoutRedial: break
            }
        }
    }

    /// Goes on with a call of another gateway; nil for one that has ended here.
    private mutating func adopt(
        _ row: ForeignRow, _ calls: [String: LedgerCall], _ away: [String: LedgerCall]
    ) -> LedgerCall? {
        guard let record = StoredCall(row).record, record.endedAt == nil else { return nil }
        let callID = record.call.description
        if let own = calls[callID] {
            // Both gateways had its INVITE, or each that of another called number; this one's row is shown from now on.
            mark(.changed, of: own)
            for party in record.parties { mark(own.machine.called(also: party), of: own) }
            return own
        }
        if let own = away[callID] {
            handover.takeBack(own)
            goOn(with: own)
            for update in record.facts { applyForeign(ForeignUpdate(seenHere: update)) }
            return own
        }
        guard !handover.isAdopted(callID) else { return nil }
        let call = goOn(with: record, from: row.gateway)
        handover.adopt(call, from: row.gateway)
        return call
    }

    /// Leaves a call to the gateway that goes on with it, and reports to that gateway what was seen here.
    private mutating func lend(_ call: LedgerCall) {
        takeOut(call)
        handover.lend(call)
        reported?.append(contentsOf: call.machine.record.facts.map { ReportedUpdate(update: $0, isOwn: false) })
    }
}
