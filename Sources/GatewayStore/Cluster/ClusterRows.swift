// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import Synchronization

extension LedgerWriter {
    /// Stores the cluster's part of a batch, after the calls and the clocks of the batch.
    func store(_ cluster: ClusterJournal, with batch: LedgerBatch) throws {
        let originals = try store(corrected: cluster.batch.corrected)
        for clock in batch.clocks {
            for table in SharedTable.allCases where table.isAppendOnly {
                let shift = try LedgerStatement(database, "UPDATE \(table.name) SET at = at + ?1")
                shift.bind(1, clock.setBy)
                try shift.run()
            }
        }
        try store(signals: cluster.batch.signals)
        try store(adopted: cluster.batch.adopted)
        try store(taken: cluster.batch.takenEvents)
        // The shared ledger finds returns among the calls of all gateways.
        if cluster.isShared { try ReturnCandidates(database, returns).store(batch, corrected: originals) }
    }

    /// Stores what a late report has changed of ended calls; the other columns stay.
    ///
    /// - Returns: calls that may be returned from now on: their name was shown.
    private func store(corrected calls: [LedgerCall]) throws -> [LedgerCall] {
        guard !calls.isEmpty else { return [] }
        try count(corrected: calls)
        try store(calls, .correct)
        let hasKey = try LedgerStatement(database, "SELECT 1 FROM call WHERE id = ?1 AND subscriber_key IS NOT NULL")
        let makeReturnable = try LedgerStatement(
            database, "UPDATE call SET subscriber_key = ?2, returnable = 1 WHERE id = ?1")
        return try calls.filter { call in
            hasKey.bind(1, call.row)
            guard returns.isOriginal(call.machine.record), let key = try storeKeys(of: call),
                try hasKey.firstRow({ _ in true }) == nil
            else { return false }
            makeReturnable.bind(1, call.row)
            makeReturnable.bind(2, key)
            try makeReturnable.run()
            return true
        }
    }

    /// Changes the counts of ended calls by what late reports have changed of them; before their rows change.
    private func count(corrected calls: [LedgerCall]) throws {
        let isCounted = try LedgerStatement(database, "SELECT 1 FROM call WHERE id = ?1 AND continued_as IS NULL")
        var tally = HourTally()
        for call in calls {
            isCounted.bind(1, call.row)
            guard try isCounted.firstRow({ _ in true }) != nil,
                let before = try LedgerState.call(at: call.row, in: database)
            else { continue }
            tally.replace(before.machine.record, with: call.machine.record)
        }
        try tally.store(in: database)
    }

    /// Stores updates of calls that other gateways have; a row is a fact and stays as it is.
    private func store(signals: [CallUpdate]) throws {
        guard !signals.isEmpty else { return }
        let insert = try LedgerStatement(
            database, "INSERT INTO call_signal (at, call_id, other_call_id, bytes) VALUES (?1, ?2, ?3, ?4)")
        for signal in signals {
            insert.bind(1, signal.wallMicroseconds)
            insert.bind(2, signal.call.description)
            if case .callIfSentByCallee(let other) = signal.counterpart {
                insert.bind(3, other.description)
            } else {
                insert.bind(3, String?.none)
            }
            insert.bind(4, blob: signal.bytes)
            try insert.run()
        }
    }

    /// Records which calls were taken over, so that none is a second time.
    private func store(adopted calls: [(call: LedgerCall, gateway: String)]) throws {
        guard !calls.isEmpty else { return }
        let insert = try LedgerStatement(
            database, "INSERT OR REPLACE INTO adopted_call (call_id, call, gateway) VALUES (?1, ?2, ?3)")
        for (call, gateway) in calls {
            insert.bind(1, call.callID)
            insert.bind(2, call.row)
            insert.bind(3, gateway)
            try insert.run()
        }
    }

    /// Stores events of another gateway as they are there, due at once.
    private func store(taken events: [(id: Int64, row: ForeignRow)]) throws {
        guard !events.isEmpty else { return }
        let insert = try LedgerStatement(
            database,
            """
            INSERT INTO event (id, key, number, surface, displayed_at, meta, created_at, due_at, customer)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """)
        for (id, row) in events {
            insert.bind(1, id)
            insert.bind(2, row.text("key") ?? "")
            insert.bind(3, row.text("number") ?? "")
            insert.bind(4, row.text("surface") ?? "")
            insert.bind(5, row.text("displayed_at") ?? "")
            insert.bind(6, row.text("meta") ?? "{}")
            insert.bind(7, row.integer("created_at") ?? now)
            insert.bind(8, now)
            insert.bind(9, row.text("customer"))
            try insert.run()
        }
    }

    /// Stores a return that was found among all gateways; returns the number of added events.
    fileprivate func store(_ found: SharedReturn, event: Int64) throws -> Int64 {
        var added: Int64 = 0
        if let row = found.callBack, let call = try LedgerState.call(at: row, in: database),
            try isUnreturned(row)
        {
            try store(found.original, returnedBy: call.machine.record, latency: found.latency, id: event)
            try mark(row, returnEvent: event, returnedAt: nil)
            added = 1
        }
        if let row = found.originalCall {
            let settle = try LedgerStatement(database, Self.settleFound)
            settle.bind(1, row)
            settle.bind(2, found.returnedAt)
            settle.bind(3, added > 0 ? event : nil)
            settle.bind(4, found.original.callID)
            try settle.run()
        }
        return added
    }

    private func isUnreturned(_ row: Int64) throws -> Bool {
        let select = try LedgerStatement(database, "SELECT 1 FROM call WHERE id = ?1 AND return_event IS NULL")
        select.bind(1, row)
        return try select.firstRow { _ in true } ?? false
    }

    private static let settleFound = """
        UPDATE call SET returnable = 0, returned_at = coalesce(returned_at, ?2), return_event = coalesce(return_event, ?3)
        WHERE id = ?1 AND call_id = ?4
        """
}

extension OutcomeRecorder {
    /// Stores returns that were found among all gateways, with the events of call backs of this one; a repetition changes
    /// nothing.
    ///
    /// Waits for the disk and for a round of the recorder; not for its thread.
    package func store(_ returns: [SharedReturn]) throws {
        guard try addReturns(returns) else {
            throw HeraldDatabaseError(path: database.ledgerFile.path, problem: .missing)
        }
    }

    /// False without a ledger.
    private func addReturns(_ returns: [SharedReturn]) throws -> Bool {
        try journal.withLock { taken in
            guard let free = taken?.nextEvent else { return false }
            let (settings, minter, now) = (settings, minter, now() / 1_000_000)
            let added = try database.ledger.write { database in
                let writer = LedgerWriter(database, minter: minter, returns: settings.returns, now: now)
                var next = free
                for found in returns { next += try writer.store(found, event: next) }
                return next - free
            }
            taken?.added(events: added)
            shared.withLock { $0.events += Int(added) }
            return true
        }
    }
}
