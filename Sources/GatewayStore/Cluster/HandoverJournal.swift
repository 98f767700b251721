// SPDX-License-Identifier: Apache-2.0

import CallAccounting

/// Calls that have moved between gateways, and updates that may belong to calls that move here.
struct HandoverJournal {
    /// The last batch of steps that was applied.
    var batch: UInt64 = 0
    private(set) var counts = HandoverCounts()
    /// True if the watched calls differ from those of the last look.
    var isChanged = false
    /// Updates without an open call; nil for a gateway that adopts nothing.
    var kept: KeptUpdates?

    /// Calls ever taken over, with their gateway where that is known.
    private var adopted: [String: String] = [:]
    /// Adopted calls in progress.
    private var here: Set<String> = []
    /// Own calls that go on at another gateway.
    private var away: [CallIdentifier: LedgerCall] = [:]

    /// Identifiers of calls that may end at another gateway.
    var watched: Set<String> { here.union(away.values.map(\.callID)) }

    mutating func begin(adopted ids: Set<String>, open: [LedgerCall]) {
        adopted = Dictionary(uniqueKeysWithValues: ids.map { ($0, "") })
        here = Set(open.map(\.callID)).intersection(ids)
        counts.here = here.count
        isChanged = true
    }

    func isAway(_ name: CallIdentifier) -> Bool { !away.isEmpty && away[name] != nil }

    /// The gateway that an adopted call in progress came from; nil for an own call.
    func origin(of call: LedgerCall) -> String? { here.contains(call.callID) ? adopted[call.callID] : nil }

    func isAdopted(_ callID: String) -> Bool { adopted[callID] != nil }

    mutating func keep(_ update: @autoclosure () -> ForeignUpdate) { kept?.append(update()) }

    mutating func adopt(_ call: LedgerCall, from gateway: String) {
        adopted[call.callID] = gateway
        here.insert(call.callID)
        (counts.here, isChanged) = (here.count, true)
    }

    mutating func lend(_ call: LedgerCall) {
        away[call.name] = call
        here.remove(call.callID)
        (counts.here, counts.away, isChanged) = (here.count, away.count, true)
    }

    /// Calls that are away, by their identifier.
    var awayByID: [String: LedgerCall] {
        Dictionary(away.values.map { ($0.callID, $0) }) { first, _ in first }
    }

    mutating func takeBack(_ call: LedgerCall) {
        away[call.name] = nil
        (counts.away, isChanged) = (away.count, true)
    }

    /// Shifts the times of calls that are away by a step of the clock.
    func clockWasSet(_ step: ClockStep) {
        for call in away.values { _ = call.machine.clockWasSet(by: step.microseconds, now: step.noticedAt) }
    }

    mutating func ended(_ call: LedgerCall) {
        guard !here.isEmpty, here.remove(call.callID) != nil else { return }
        (counts.here, isChanged) = (here.count, true)
    }

    mutating func leftForRedial() { counts.redials += 1 }

    /// Counts what a stored batch has taken over.
    mutating func stored(_ batch: LedgerBatch) {
        counts.calls += batch.adopted.count
        counts.events += batch.takenEvents.count
    }
}

/// The latest updates without an open call, for a call that is taken over after them.
struct KeptUpdates {
    /// Two minutes of 500 calls/s at siblings; 30 MB at most.
    static let most = 262_144

    private var updates: [ForeignUpdate] = []
    private var next = 0

    mutating func append(_ update: ForeignUpdate) {
        // The INVITE of a call that moves here is in its row.
        guard update.update.kind != .invite else { return }
        guard updates.count == Self.most else { return updates.append(update) }
        updates[next] = update
        next = (next + 1) % Self.most
    }

    /// The updates of some calls in the order of their time, by call.
    func updates(of calls: Set<CallIdentifier>) -> [CallIdentifier: [ForeignUpdate]] {
        var found: [CallIdentifier: [ForeignUpdate]] = [:]
        for update in updates[next...] + updates[..<next] {
            if calls.contains(update.update.call) { found[update.update.call, default: []].append(update) }
            if case .callIfSentByCallee(let call) = update.update.counterpart, calls.contains(call) {
                found[call, default: []].append(update)
            }
        }
        // The sort is stable: messages of one look at the socket stay in the order of their arrival.
        return found.mapValues { $0.sorted { $0.update.wallMicroseconds < $1.update.wallMicroseconds } }
    }
}
