// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import GatewayStore
import Primitives

/// The facts of one call, the evidence of its decision, its timeline and its events for the directory, as text.
struct CallStory {
    let call: LedgerCallRow

    init(_ call: LedgerCallRow) { self.call = call }

    /// The story for a terminal.
    ///
    /// - Parameter zone: of the time at which it began.
    func text(in zone: LocalZone) -> String {
        var text = "call \(call.callID)\n"
        text += "  \("began".padding(12)) \(PageTime.text(call.inviteAt / 1_000_000, in: zone))\n"
        for fact in facts { text += "  \(fact.name.padding(12)) \(TerminalText.visible(fact.value))\n" }
        text += "\n"
        for step in steps {
            text += "  \(step.name.padding(12)) \(TerminalText.visible(step.finding { $0 }))\n"
        }
        text += "\n"
        for moment in call.timeline {
            text += "  \(moment.offset.padding(10, left: true)) s  \(moment.what)\n"
        }
        if call.outcome == nil { text += "  \("".padding(12))  still in progress\n" }
        text += call.events.isEmpty ? "\n  no event for the directory\n" : "\n"
        for event in call.events {
            text += "  event \(TerminalText.visible(event.outcome)): \(event.fate)\n"
        }
        return text
    }

    /// The steps of the decision; none for a call from the PBX and for one of an earlier version.
    var steps: [DecisionSteps.Step] { DecisionSteps(call)?.all ?? [] }

    /// A fact with its name.
    struct Fact {
        let name: String
        let value: String
        /// True for telephone numbers and texts that hold one, which pages may mask.
        let isNumber: Bool

        /// Nil where the ledger does not know it.
        init?(_ name: String, _ value: String?, isNumber: Bool = false) {
            guard let value, !value.isEmpty else { return nil }
            (self.name, self.value, self.isNumber) = (name, value, isNumber)
        }

        /// A foreign text, which may hold a number; nil where the ledger does not know it.
        init?(_ name: String, foreign text: String?) {
            self.init(name, text, isNumber: text.map(NumberMask.holdsNumber) ?? false)
        }
    }

    /// The known facts.
    var facts: [Fact] {
        let brand = call.isNamedBySigner ? Fact("brand", foreign: call.brandName) : Fact("brand", call.brandName)
        let facts: [Fact?] = [
            Fact("SIP Call-ID", call.sipCallID), Fact("then", call.latestSIPCallID), Fact("direction", call.direction),
            Fact("trunk", call.trunk), Fact("customer", call.customer), Fact("from", call.callerShown, isNumber: true),
            Fact("to", call.destination ?? call.subscriber, isNumber: true),
            Fact("subscriber", call.destination == nil ? nil : call.subscriber, isNumber: true),
            Fact("also called", call.alsoCalled?.joined(separator: ", "), isNumber: true),
            brand, Fact("carrier name", foreign: call.carrierName), Fact("decision", call.decision),
            Fact("outcome", call.outcomeShown), Fact("SIP status", call.status.map(String.init)),
            Fact("Q.850 cause", call.q850Cause.map(String.init)), Fact("ring", call.ringSeconds.map { "\($0) s" }),
            Fact("talk", call.callSeconds.map { "\($0) s" }),
        ]
        return facts.compactMap { $0 }
    }
}

extension LedgerCallRow {
    /// Whether the name is that of a token alone, which is foreign text.
    var isNamedBySigner: Bool { decision == PassThroughReason.signedName.description }

    /// The name of the brand, or that of a token.
    ///
    /// - Parameter shown: the form in which the reader may see a number.
    func brandShown(_ shown: (String) -> String) -> String? {
        guard isNamedBySigner, let name = brandName, NumberMask.holdsNumber(name) else { return brandName }
        return shown(name)
    }

    /// The evidence of the decision for `--json`; null if none was kept.
    var evidenceJSON: JSONValue {
        guard let steps = DecisionSteps(self) else { return .null }
        return .array(
            steps.all.map { .object(["step": .string($0.name), "finding": .string($0.finding { $0 })]) })
    }

    /// The timeline for `--json`.
    var timelineJSON: JSONValue {
        .array(
            timeline.map { moment in
                .object(["at": JSONValue(microseconds: moment.at) ?? .null, "what": .string(moment.what)])
            })
    }
}

extension LedgerCallRow.Moment {
    /// Seconds after the INVITE, with milliseconds.
    var offset: String {
        let milliseconds = sinceInvite / 1000
        let fraction = String(abs(milliseconds % 1000))
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
    }
}

extension LedgerEventRow {
    /// The state of the event in a few words.
    var fate: String {
        let tries = attempts == 1 ? "1 try" : "\(attempts) tries"
        let why = reason.map { ": " + TerminalText.visible($0) } ?? ""
        return switch state {
        case .waiting: attempts == 0 ? "waiting" : "waiting after \(tries)\(why)"
        case .delivered: "delivered\(isCounted.map { $0 ? " and counted" : ", not counted" } ?? "")\(why)"
        case .refused: "refused\(status.map { " with \($0)" } ?? "")\(why)"
        }
    }
}

extension String {
    fileprivate func padding(_ width: Int, left: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - count))
        return left ? blanks + self : self + blanks
    }
}
