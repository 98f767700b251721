// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CallAccounting

/// One line of the outcome table: what was seen, what a person would say happened, and who says so.
struct OutcomeRow: Sendable, CustomTestStringConvertible {
    var status: UInt16
    var q850: UInt16 = 0
    var sip: UInt16 = 0
    var rang = false
    var progress = false
    var cancelled = false
    var outcome: CallOutcome
    var source: String

    var testDescription: String {
        let sign = rang ? "after 180" : progress ? "after 183" : "at once"
        return "\(status) Q.850 \(q850) SIP \(sip) \(cancelled ? "cancelled " : "")\(sign): \(outcome) (\(source))"
    }

    static let table: [OutcomeRow] = [
        // A person or phone decided.
        .init(status: 486, outcome: .busy, source: "RFC 3261 §21.4.24"),
        .init(status: 486, progress: true, outcome: .busy, source: "early media is no ringing"),
        .init(status: 486, rang: true, outcome: .rejected, source: "reject key of many phones"),
        .init(status: 486, q850: 17, outcome: .busy, source: "Asterisk 16 and 22, phone busy"),
        .init(status: 600, outcome: .busy, source: "RFC 3261 §21.6.1"),
        .init(status: 600, rang: true, outcome: .rejected, source: "RFC 3261 §21.6.1 after ringing"),
        .init(status: 603, outcome: .rejected, source: "RFC 3261 §21.6.2"),
        .init(status: 603, rang: true, outcome: .rejected, source: "RFC 3261 §21.6.2"),
        .init(status: 603, q850: 16, outcome: .rejected, source: "RFC 3261 §21.6.2, no phone rang that was silent"),
        .init(status: 603, q850: 21, rang: true, outcome: .rejected, source: "Q.850 21"),
        .init(status: 403, q850: 21, outcome: .rejected, source: "Asterisk 16 and 22, user declined before 180"),
        .init(status: 403, q850: 21, rang: true, outcome: .rejected, source: "Asterisk 16 and 22, user declined"),
        .init(status: 480, q850: 17, outcome: .busy, source: "Q.850 17 under another status"),
        .init(status: 607, rang: true, outcome: .rejected, source: "RFC 8197"),
        .init(status: 608, outcome: .blocked, source: "RFC 8688"),
        .init(status: 603, sip: 608, outcome: .blocked, source: "ATIS-1000099"),
        .init(status: 603, q850: 16, sip: 608, rang: true, outcome: .blocked, source: "ATIS-1000099, after ringing"),
        // Nobody picked up.
        .init(status: 603, q850: 16, rang: true, outcome: .missed, source: "Asterisk 16 and 22, PBX gave up"),
        .init(status: 603, q850: 16, progress: true, outcome: .missed, source: "the same with early media"),
        .init(status: 603, q850: 19, rang: true, outcome: .missed, source: "Q.850 19"),
        .init(status: 480, rang: true, outcome: .missed, source: "RFC 3261 §21.4.18"),
        .init(status: 480, q850: 19, outcome: .missed, source: "Asterisk 16 and 22, Q.850 19 without 180"),
        .init(status: 480, q850: 18, rang: true, outcome: .missed, source: "Q.850 18"),
        .init(status: 408, rang: true, outcome: .missed, source: "RFC 3261 §16.7, Timer C"),
        .init(status: 504, rang: true, outcome: .missed, source: "RFC 3261 §21.5.5"),
        .init(status: 500, rang: true, outcome: .missed, source: "it rang and nobody talked"),
        .init(status: 302, rang: true, outcome: .missed, source: "forwarded after ringing"),
        // The caller gave up, or another phone took it.
        .init(status: 487, rang: true, cancelled: true, outcome: .missed, source: "RFC 3261 §9"),
        .init(status: 487, q850: 16, rang: true, cancelled: true, outcome: .missed, source: "Q.850 16"),
        .init(status: 487, q850: 31, cancelled: true, outcome: .missed, source: "Q.850 31"),
        .init(status: 487, rang: true, outcome: .missed, source: "its CANCEL passed while the gateway was down"),
        .init(status: 0, rang: true, cancelled: true, outcome: .missed, source: "no response to the CANCEL"),
        .init(status: 487, sip: 200, rang: true, cancelled: true, outcome: .answeredElsewhere, source: "RFC 3326 §2"),
        .init(status: 487, q850: 26, rang: true, cancelled: true, outcome: .answeredElsewhere, source: "Q.850 26"),
        .init(status: 487, sip: 600, rang: true, cancelled: true, outcome: .declinedElsewhere, source: "RFC 3326 §2"),
        .init(status: 487, sip: 603, rang: true, cancelled: true, outcome: .declinedElsewhere, source: "RFC 3326 §2"),
        .init(status: 486, rang: true, cancelled: true, outcome: .rejected, source: "486 crosses CANCEL"),
        .init(status: 603, q850: 16, rang: true, cancelled: true, outcome: .missed, source: "PBX echoes the CANCEL"),
        // It never reached a phone.
        .init(status: 404, q850: 1, outcome: .failed, source: "Asterisk 16 and 22, unknown user"),
        .init(status: 404, q850: 3, outcome: .failed, source: "Asterisk 16 and 22, phone not registered"),
        .init(status: 410, outcome: .failed, source: "RFC 3261 §21.4.9"),
        .init(status: 484, outcome: .failed, source: "RFC 3261 §21.4.22"),
        .init(status: 488, q850: 58, outcome: .failed, source: "Asterisk 16 and 22, no common codec"),
        .init(status: 480, outcome: .failed, source: "nobody there to ring"),
        .init(status: 403, outcome: .failed, source: "RFC 3261 §21.4.4"),
        .init(status: 408, outcome: .failed, source: "no response from the PBX"),
        .init(status: 500, q850: 38, outcome: .failed, source: "Asterisk 16 and 22"),
        .init(status: 503, q850: 34, outcome: .failed, source: "Asterisk 16 and 22, congestion"),
        .init(status: 604, outcome: .failed, source: "RFC 3261 §21.6.3"),
        .init(status: 302, outcome: .failed, source: "sent elsewhere before it rang here"),
        .init(status: 404, progress: true, outcome: .failed, source: "RFC 3960 §3, an announcement as early media"),
        .init(status: 504, progress: true, outcome: .failed, source: "the same"),
    ]
}

@Suite("Outcome table: final responses, CANCEL and causes")
struct CallOutcomeTests {
    @Test(arguments: OutcomeRow.table)
    func `every ending is what a person would say happened`(row: OutcomeRow) {
        let ending = CallEnding(
            status: row.status, q850Cause: row.q850, sipCause: row.sip, rang: row.rang,
            alerted: row.rang || row.progress, cancelled: row.cancelled)
        #expect(ending.outcome == row.outcome)
    }

    @Test(arguments: OutcomeRow.table)
    func `the updates of a call lead to the same ending`(row: OutcomeRow) {
        let call = ScriptedUpdates()
        var updates = [call.invite()]
        if row.progress { updates.append(call.provisional(183, at: 1)) }
        if row.rang { updates.append(call.provisional(180, at: 2)) }
        if row.cancelled { updates.append(call.cancelled(q850: row.q850, sip: row.sip, at: 9)) }
        if row.status != 0 { updates.append(call.failed(row.status, q850: row.q850, sip: row.sip, at: 10)) }
        var machine = CallStateMachine(after: updates)
        // Redirections, a wish for more digits and silence end when nothing more comes.
        if row.status == 0 || row.status / 100 == 3 || row.status == 484 {
            _ = machine.expire(now: ScriptedUpdates.start + 90_000_000, limits: .init())
        }
        #expect(machine.record.outcome == row.outcome)
        // A cancelled call was over when the caller gave up.
        #expect(machine.record.endedAt == ScriptedUpdates.start + (row.cancelled ? 9_000_000 : 10_000_000))
    }
}
