// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import Testing

@testable import GatewayStore

/// Requirement: `displayed` is billed, so it is stored once, and only where a phone showed the name.
@Suite("Recorder: the display of a call with early media")
struct LedgerDisplayTests {
    /// A message of the call; its second is its place.
    enum Message: Sendable, Hashable {
        case provisional(UInt16), failed(UInt16), cancelled, answered, machine, bye
    }

    struct Course: Sendable, CustomTestStringConvertible {
        let messages: [Message]
        let outcome: String
        let events: [String]
        var testDescription: String { "\(messages)" }
    }

    private static let courses = [
        Course(messages: [.provisional(183), .failed(404)], outcome: "FAILED", events: ["error"]),
        Course(messages: [.provisional(183), .failed(503)], outcome: "FAILED", events: ["error"]),
        Course(messages: [.provisional(182), .cancelled, .failed(487)], outcome: "MISSED", events: ["missed"]),
        Course(messages: [.provisional(183), .machine, .bye], outcome: "ANSWERED", events: ["call_seen"]),
        Course(
            messages: [.provisional(183), .cancelled, .failed(487)], outcome: "MISSED", events: ["displayed", "missed"]),
        Course(messages: [.provisional(183), .failed(480)], outcome: "MISSED", events: ["displayed", "missed"]),
        Course(messages: [.provisional(183), .failed(486)], outcome: "BUSY", events: ["displayed", "missed"]),
        Course(messages: [.provisional(183), .failed(603)], outcome: "REJECTED", events: ["displayed", "call_seen"]),
        Course(
            messages: [.provisional(183), .answered, .bye], outcome: "ANSWERED", events: ["displayed", "call_seen"]),
        Course(
            messages: [.provisional(183), .provisional(180), .failed(404)], outcome: "MISSED",
            events: ["displayed", "missed"]),
    ]

    private func play(_ message: Message, at second: Int64, of call: ScriptedCall) {
        switch message {
        case .provisional(let status): call.ring.append(call.update(.provisional, second, status))
        case .failed(let status): call.failed(status, at: second)
        case .cancelled: call.cancelled(at: second)
        case .answered: call.answered(at: second)
        case .machine: call.answered(at: second, marks: .system)
        case .bye: call.bye(at: second)
        }
    }

    @Test(arguments: courses, [0, 1, 2])
    func `each call has its events once, also with a kill after any message`(course: Course, way: Int) throws {
        let ledger = try LedgerFixture()
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        for (place, message) in course.messages.enumerated() {
            if way > 0 { try ledger.recorder.drain() }
            if way > 1 { try ledger.restart() }
            // The ring of the fixture is another one after a restart.
            play(message, at: Int64(place) + 1, of: ScriptedCall(ledger.ring, 1))
        }
        ledger.clock.advance(seconds: 60)
        try ledger.recorder.drain()
        #expect(try ledger.calls().map(\.outcome) == [course.outcome])
        #expect(try ledger.keys() == course.events.map { "\($0):\(call.id)" })
        let shown = try ledger.events().first { $0.outcome == "displayed" }
        let isByRinging = course.messages.contains(.provisional(180))
        #expect(shown?.displayedAt == (shown == nil ? nil : "2026-01-01T00:00:0\(isByRinging ? 2 : 1)Z"))
    }

    @Test(arguments: [(404, 0), (480, 1)] as [(UInt16, Int)])
    func `only a call whose name was shown can be returned`(status: UInt16, returns: Int) throws {
        let ledger = try LedgerFixture()
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        play(.provisional(183), at: 1, of: call)
        call.failed(status, at: 9)
        let back = ScriptedCall.outbound(ledger.ring, 2)
        back.invite(at: 60)
        back.rings(at: 61)
        try ledger.recorder.drain()
        #expect(try ledger.keys().filter { $0.hasPrefix("returned") }.count == returns)
    }

    /// Version 0.2 reported the 183 of a call that was open during the upgrade.
    @Test func `a display that an earlier version has reported is not reported again`() throws {
        let ledger = try LedgerFixture()
        let call = ScriptedCall(ledger.ring, 1)
        call.invite()
        play(.provisional(183), at: 1, of: call)
        try ledger.recorder.drain()
        try ledger.database.ledger.write { database in
            try database.execute(
                sql: """
                    INSERT INTO event (id, key, number, surface, displayed_at, meta, created_at, due_at)
                    VALUES (1, ?, '+4930123456', 'sip', '2026-01-01T00:00:01Z', '{}', 0, 0);
                    UPDATE call SET shown_event = 1;
                    """, arguments: ["displayed:\(call.id)"])
        }
        try ledger.restart()
        ScriptedCall(ledger.ring, 1).failed(480, at: 9)
        try ledger.recorder.drain()
        #expect(try ledger.keys() == ["displayed:\(call.id)", "missed:\(call.id)"])
    }
}
