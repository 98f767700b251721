// SPDX-License-Identifier: Apache-2.0

import CallAccounting

/// Calls that have moved between gateways, and updates that may belong to calls that move here.
struct HandoverJournal {
    /// The last batch of steps that was applied.
    var batch: UInt64 = 0
    /// Updates without an open call; nil for a gateway that adopts nothing.
    var kept: KeptUpdates?
    /// Own calls that go on at another gateway.
    var away: [CallIdentifier: LedgerCall] = [:]
    /// Adopted calls in progress.
    private var here: Set<String>
    /// Calls ever taken over, with their gateway where that is known.
    private var adopted: [String: String]
    /// Numbers of calls and events that have moved since the start.
    var moved = HandoverCounts()

    /// - Parameters:
    ///   - ids: identifiers of the calls that were ever taken over.
    ///   - open: the calls in progress.
    init(adopted ids: Set<String>, open: [LedgerCall]) {
        adopted = Dictionary(uniqueKeysWithValues: ids.map { ($0, "") })
        here = Set(open.map(\.callID)).intersection(ids)
    }

    /// The same with the calls that are away or here at present.
    var counts: HandoverCounts {
        var counts = moved
        (counts.here, counts.away) = (here.count, away.count)
        return counts
    }

    /// Identifiers of calls that may end at another gateway.
    var watched: Set<String> { here.union(away.values.map(\.callID)) }

    func isAway(_ name: CallIdentifier) -> Bool { !away.isEmpty && away[name] != nil }

    /// The gateway that an adopted call in progress came from; nil for an own call.
    func origin(of call: LedgerCall) -> String? { here.contains(call.callID) ? adopted[call.callID] : nil }

    func isAdopted(_ callID: String) -> Bool { adopted[callID] != nil }

    mutating func adopt(_ call: LedgerCall, from gateway: String) {
        adopted[call.callID] = gateway
        here.insert(call.callID)
    }

    mutating func lend(_ call: LedgerCall) {
        away[call.name] = call
        here.remove(call.callID)
    }

    mutating func ended(_ call: LedgerCall) { if !here.isEmpty { here.remove(call.callID) } }
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
