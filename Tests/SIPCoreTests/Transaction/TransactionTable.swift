// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

extension TransactionMachine {
    /// A machine that was started and then met these events.
    static func after(_ events: [Event], isReliable: Bool = false) -> Self {
        var machine = Self(timers: .standard, isReliable: isReliable)
        _ = machine.start()
        for event in events { _ = machine.receive(event) }
        return machine
    }

    /// Feeds the event and gives the effects as an array, which prints well.
    mutating func effects(of event: Event) -> [TransactionEffect] { Array(receive(event)) }
}

/// One row of a state table: in this state this event has these effects and leads there, because the RFC says so.
struct TransactionRow<Machine: TransactionMachine>: Sendable, CustomTestStringConvertible {
    let rule: String
    let state: Machine.State
    let event: Machine.Event
    let next: Machine.State
    let effects: [TransactionEffect]

    init(
        _ rule: String, _ state: Machine.State, _ event: Machine.Event, _ next: Machine.State,
        _ effects: [TransactionEffect] = []
    ) {
        self.rule = rule
        self.state = state
        self.event = event
        self.next = next
        self.effects = effects
    }

    var testDescription: String { rule }

    /// Plays the row on a machine that the events brought to its state.
    func check(after events: [Machine.Event]?, isReliable: Bool = false) throws {
        var machine = Machine.after(try #require(events), isReliable: isReliable)
        try #require(machine.state == state)
        #expect(machine.effects(of: event) == effects)
        #expect(machine.state == next)
    }
}

/// A state and an event, to find out which pairs a table leaves open.
private struct Pair<Machine: TransactionMachine>: Hashable {
    let state: Machine.State
    let event: Machine.Event
}

/// Plays every pair of a state and an event that the table does not name, and expects nothing to happen.
///
/// Over a reliable transport some states cannot be reached; their paths lead on to the end, which is checked as well.
func expectRestAbsorbed<Machine: TransactionMachine>(
    _ table: [TransactionRow<Machine>], paths: [Machine.State: [Machine.Event]], events: [Machine.Event],
    isReliable: Bool
) {
    let rows = Set(table.map { Pair<Machine>(state: $0.state, event: $0.event) })
    for (named, path) in paths {
        let state = Machine.after(path, isReliable: isReliable).state
        #expect(state == named || isReliable)
        for event in events where !rows.contains(Pair(state: state, event: event)) {
            var machine = Machine.after(path, isReliable: isReliable)
            #expect(machine.effects(of: event).isEmpty, "\(event) in \(state)")
            #expect(machine.state == state, "\(event) in \(state)")
        }
    }
}

/// Every event of a server transaction, with one status for each kind and the statuses no response can carry.
let allServerEvents: [ServerTransactionEvent] =
    [.request, .ack, .transportFailed]
    + [0, 99, 100, 180, 200, 408, 486, 700, -1].map { .respond($0) }
    + TransactionTimer.allCases.map { .fired($0) }

/// Every event of a client transaction, with one status for each kind and the statuses no response can carry.
let allClientEvents: [ClientTransactionEvent] =
    [.cancel, .transportFailed]
    + [0, 99, 100, 180, 200, 486, 700, -1].map { .response($0) }
    + TransactionTimer.allCases.map { .fired($0) }

/// 64 × T1 with the standard timers.
let timeout64 = TimerDelay.seconds(32)
