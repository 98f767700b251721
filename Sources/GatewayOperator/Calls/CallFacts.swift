// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayStore
import Primitives

extension LedgerCallRow {
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

    /// Whether the name is that of a token alone, which is foreign text.
    var isNamedBySigner: Bool {
        decision == PassThroughReason.signedName.description || isInShadow && record?.isNamedBySigner ?? false
    }

    /// Whether the brand is the one that a call in shadow would have shown.
    var isInShadow: Bool { decision == PassThroughReason.shadow.description }

    /// The name of the brand, or that of a token.
    ///
    /// - Parameter shown: the form in which the reader may see a number.
    func brandShown(_ shown: (String) -> String) -> String? {
        guard isNamedBySigner, let name = brandName, NumberMask.holdsNumber(name) else { return brandName }
        return shown(name)
    }

    /// The known facts.
    var facts: [Fact] {
        let title = isInShadow ? "not written" : "brand"
        let brand = isNamedBySigner ? Fact(title, foreign: brandName) : Fact(title, brandName)
        let facts: [Fact?] = [
            Fact("call id", callID), Fact("SIP Call-ID", sipCallID), Fact("then", latestSIPCallID),
            Fact("direction", direction), Fact("trunk", trunk), Fact("customer", customer), Fact("gateway", node),
            Fact("from", callerShown, isNumber: true), Fact("to", destination ?? subscriber, isNumber: true),
            Fact("subscriber", destination == nil ? nil : subscriber, isNumber: true),
            Fact("also called", alsoCalled?.joined(separator: ", "), isNumber: true),
            brand, Fact("brand id", brandID), Fact("carrier name", foreign: carrierName), Fact("decision", decision),
            Fact("outcome", outcomeShown), Fact("SIP status", status.map(String.init)),
            Fact("Q.850 cause", q850Cause.map(String.init)), Fact("ring", ringSeconds.map { "\($0) s" }),
            Fact("talk", callSeconds.map { "\($0) s" }),
        ]
        return facts.compactMap { $0 }
    }

    /// The steps of the decision; none for a call from the PBX and for one of an earlier version.
    var steps: [DecisionSteps.Step] { DecisionSteps(self)?.all ?? [] }
}

extension CallLadder.Rung {
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
