// SPDX-License-Identifier: Apache-2.0

import Branding
package import BrandingAPI
import CallAccounting
import Foundation
import Primitives

/// The report of a test call: ladder, the INVITE as the PBX got it, decision and outcome.
package struct TestCallReport: Sendable {
    /// Lines of calls that may turn out to be the call back.
    private static let mostHeld = 200

    private let plan: TestCallPlan
    private let expectation: TestCallWish.Expectation?
    private let callID: String
    var result = TestCallResult()
    /// Why the trace has a gap; nil for none.
    var gap: String?
    private let form: TableForm
    private var ladder: TraceLadder
    private var lines: [TraceLine] = []
    /// Call-IDs of the test call and of its call back.
    private var own: Set<String>
    /// Lines of other calls with the brand's number, until they prove to be the call back.
    private var held: [TraceLine] = []
    private var received: String?
    private var sent: String?
    private var decision: String?
    private var evidence: String?

    /// - Parameter form: the width of the ladder and of the facts below it.
    init(_ plan: TestCallPlan, _ expectation: TestCallWish.Expectation?, callID: String, _ form: TableForm = .narrow) {
        (self.plan, self.expectation, self.callID, self.form) = (plan, expectation, callID, form)
        ladder = TraceLadder(form)
        own = [callID]
    }

    /// Adds a line of the trace, and returns its rows of the ladder.
    mutating func add(_ line: TraceLine) -> String {
        guard !own.contains(line.callID) else { return take(line) }
        guard !line.callID.isEmpty else { return "" }
        if held.count < Self.mostHeld { held.append(line) }
        guard case .message(let message) = line.event, !message.isReceived, message.side == .trunk,
            message.summary == "INVITE", isForCaller(message)
        else { return "" }
        own.insert(line.callID)
        let known = held.filter { $0.callID == line.callID }
        held.removeAll { $0.callID == line.callID }
        return known.reduce(into: "") { $0 += take($1) }
    }

    /// Whether a message goes to the address that the test's own messages come from.
    private func isForCaller(_ message: TracedMessage) -> Bool {
        lines.contains { line in
            guard case .message(let other) = line.event else { return false }
            return other.isReceived && other.side == .trunk && other.source == message.destination
        }
    }

    private mutating func take(_ line: TraceLine) -> String {
        lines.append(line)
        if line.callID == callID {
            switch line.event {
            case .decision(let text, let reasons): (decision, evidence) = (text, reasons)
            case .message(let message) where message.summary == "INVITE" && message.isReceived:
                received = received ?? String(decoding: message.bytes, as: UTF8.self)
            case .message(let message) where message.summary == "INVITE" && message.side == .pbx:
                sent = String(decoding: message.bytes, as: UTF8.self)
            default: break
            }
        }
        return ladder.text(of: line)
    }

    /// Whether the brand was found and not written, because trunk or route are in shadow.
    private var isInShadow: Bool { decision?.hasPrefix(PassThroughReason.shadow.description) ?? false }
    /// Whether the decision of the gateway has come.
    var hasDecision: Bool { decision != nil }
    /// Whether the gateway decided for the brand.
    private var isBranded: Bool { decision?.hasPrefix("matched") ?? false }
    /// A phone rang, or somebody answered.
    private var hasReachedPhone: Bool { result.ringAfter != nil || result.answeredAfter != nil }

    /// Whether the call went as the operator expects it; without an expectation, whether it reached a phone.
    package var isAsExpected: Bool {
        guard result.interruption == nil else { return false }
        switch expectation {
        case nil: return hasReachedPhone
        case .answered: return result.outcome == .answered
        case .missed: return result.outcome == .missed && hasReachedPhone
        case .declined: return result.outcome == .rejected
        case .returned: return result.callBack != nil && isBranded
        }
    }

    /// The exit status of the command: 0 as expected, 2 otherwise, 130 after Ctrl-C or when the gateway ended the test.
    package var exitStatus: Int32 { isAsExpected ? 0 : result.interruption == nil ? 2 : 130 }

    // MARK: Text

    /// The first lines, before the call.
    private var head: [(String, String)] {
        [
            ("caller", plan.from + (plan.brand.map { ", \"\($0)\"" } ?? ", without a brand")),
            ("called", "\(plan.to) at pbx \(plan.pbx)"),
            ("trunk", "\(plan.trunk): \(plan.isTrusted ? "trusted" : "not trusted"), policy \(plan.policy)"),
        ]
    }

    /// The part below the ladder.
    package var text: String {
        let changes = received.map { ChangedLines(from: $0, to: sent).all } ?? []
        let message = changes.map { TerminalText.visible("\($0.mark) \($0.line)") + "\n" }.joined()
        let title =
            changes.isEmpty
            ? ""
            : sent == nil
                ? "\nthe INVITE, which Herald did not forward:\n" : "\nthe INVITE as the phone's PBX got it:\n"
        return title + message + "\n" + (head + foot).map(row).joined()
    }

    /// A fact behind its name, in further lines of a narrow report if it is long.
    private func row(_ name: String, _ value: String) -> String {
        let (text, indent) = (TerminalText.visible(value), 10)
        let lines = form == .wide ? [text] : WrappedText.lines(text, width: TableForm.columns - indent)
        return lines.enumerated().map { place, line in
            let begin = place == 0 ? name : ""
            return begin + String(repeating: " ", count: indent - begin.count) + line + "\n"
        }.joined()
    }

    private var foot: [(String, String)] {
        var rows: [(String, String)] = []
        if let decision { rows.append(("decision", decision)) }
        if let evidence { rows.append(("evidence", evidence)) }
        rows.append(("outcome", outcomeText))
        if expectation == .returned { rows.append(("returned", returnText)) }
        if let hint { rows.append(("hint", hint)) }
        if let gap { rows.append(("note", "the ladder is not complete: \(gap)")) }
        rows.append(("stored", "nothing: a test call has no record and no event"))
        return rows
    }

    private var outcomeText: String {
        if let reason = result.interruption { return "ended early: \(reason)" }
        if result.isSilent { return "no response of the gateway" }
        var parts = [result.outcome.rawValue]
        if let response = result.response { parts.append(response) }
        if let time = result.ringAfter { parts.append("rang after \(Self.seconds(time))") }
        if let time = result.answeredAfter { parts.append("answered after \(Self.seconds(time))") }
        if let time = result.talked {
            parts.append("ended by the \(result.wasEndedByPBX ? "PBX" : "caller") after \(Self.seconds(time))")
        } else if result.isCancelled {
            parts.append("cancelled by the caller")
        }
        if !hasReachedPhone { parts.append("no phone rang") }
        return parts.joined(separator: ", ")
    }

    private var returnText: String {
        if let callBack = result.callBack {
            let time = Self.seconds(callBack.after)
            guard isBranded else {
                return "the PBX called back after \(time), which does not count: the call had no brand"
            }
            return "recognised after \(time), from \(callBack.from); Herald responded with 486"
        }
        if let outcome = result.returnObstacle(answeredToo: plan.returnsAnswered) {
            return "not awaited: a call back counts after \(outcome)"
        }
        let others = held.compactMap(\.invitingPBX)
        guard let other = others.first else { return "no call of the PBX to \(plan.from) came" }
        return "not recognised: the PBX called \(plan.from) as \(other), and the test rang \(plan.to); list both names "
            + "under one name in outcomes.subscribers. That call went to its carrier"
    }

    /// The likeliest remedy; nil for a call that went well.
    private var hint: String? {
        let isOver = isAsExpected || result.interruption != nil
        // No call back counts for it.
        if isInShadow, isOver || expectation == .returned {
            return "no brand was shown: trunk \(plan.trunk) or the route is in shadow; set brands: true to brand"
        }
        if isOver {
            return isBranded || decision == nil ? nil : "no brand was shown; docs/reasons.md has cause and remedy"
        }
        if result.isSilent {
            return "a firewall of this machine drops \(plan.transport.rawValue) to \(plan.host) port \(plan.port)"
        }
        switch result.status {
        case 401, 407: return "pbx \(plan.pbx) asks for a password: it must know the gateway by its address"
        case 404, 484, 604: return "pbx \(plan.pbx) does not know \(plan.to): write it as the carrier does"
        case 488, 606: return "pbx \(plan.pbx) takes none of the codecs PCMA and PCMU"
        case 503 where sent == nil: return "Herald rejected the call: see herald status and herald targets"
        case 408, 503: return "no target of pbx \(plan.pbx) responded: see herald targets"
        default: return nil
        }
    }

    private static func seconds(_ milliseconds: UInt64) -> String {
        "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    }

    // MARK: JSON

    /// The report for `--json`.
    package var json: [String: JSONValue?] {
        let changes = received.map { ChangedLines(from: $0, to: sent).all } ?? []
        func texts(_ mark: String) -> JSONValue { .array(changes.filter { $0.mark == mark }.map { .string($0.line) }) }
        let ladder = lines.compactMap(\.rung)
        let members: [String: JSONValue?] = [
            "trunk": .string(plan.trunk), "pbx": .string(plan.pbx), "from": .string(plan.from), "to": .string(plan.to),
            "brand": JSONValue(plan.brand), "call_id": .string(callID), "decision": JSONValue(decision),
            "evidence": JSONValue(evidence), "before": JSONValue(received), "after": JSONValue(sent),
            "removed": texts("-"), "added": texts("+"), "ladder": .array(ladder),
        ]
        let outcome: [String: JSONValue?] = [
            "branded": .bool(isBranded), "outcome": .string(result.outcome.rawValue),
            "status": JSONValue(result.status),
            "ring_ms": JSONValue(result.ringAfter.map { Int($0) }),
            "answer_ms": JSONValue(result.answeredAfter.map { Int($0) }),
            "talk_ms": JSONValue(result.talked.map { Int($0) }),
            "ended_by_pbx": .bool(result.wasEndedByPBX), "expected": JSONValue(expectation?.rawValue),
            "as_expected": .bool(isAsExpected), "interrupted": JSONValue(result.interruption),
            "returned": expectation == .returned ? .bool(result.callBack != nil && isBranded) : nil,
            "return_from": JSONValue(result.callBack?.from), "hint": JSONValue(hint), "gap": JSONValue(gap),
        ]
        return members.merging(outcome) { own, _ in own }
    }
}

extension TraceLine {
    /// From of a call that a PBX begins; nil for every other line.
    fileprivate var invitingPBX: String? {
        guard case .message(let message) = event, message.isReceived, message.side == .pbx, message.summary == "INVITE"
        else { return nil }
        let lines = String(decoding: message.bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        let field = lines.first { line in
            let name = line.prefix { $0 != ":" }.lowercased()
            return name == "from" || name == "f"
        }
        return field.map { String($0.drop { $0 != ":" }.dropFirst()).trimmingCharacters(in: .whitespaces) }
    }

    /// The row of a message for JSON; nil for other events.
    fileprivate var rung: JSONValue? {
        guard case .message(let message) = event else { return nil }
        return .object([
            "at": JSONValue(microseconds: wallMicroseconds) ?? .null,
            "direction": .string(message.isReceived ? "received" : "sent"), "peer": .string(message.peer),
            "side": .string(message.side.rawValue), "summary": .string(message.summary), "call_id": .string(callID),
        ])
    }
}
