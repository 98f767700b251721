// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GatewayAdmin
import GatewayStore
import SafeText

/// The facts of one call, its timeline and its events for the directory, as text.
struct CallStory {
    private let call: LedgerCallRow

    init(_ call: LedgerCallRow) { self.call = call }

    var text: String {
        var text = "call \(call.callID)\n"
        for (name, value) in facts {
            guard let value, !value.isEmpty else { continue }
            text += "  \(name.padding(12)) \(TerminalText.visible(value))\n"
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

    private var facts: [(String, String?)] {
        [
            ("SIP Call-ID", call.sipCallID), ("then", call.latestSIPCallID), ("direction", call.direction),
            ("trunk", call.trunk), ("from", call.callerShown), ("to", call.destination ?? call.subscriber),
            ("subscriber", call.destination == nil ? nil : call.subscriber), ("brand", call.brandName),
            ("carrier name", call.carrierName), ("decision", call.decision), ("outcome", call.outcomeShown),
            ("SIP status", call.status.map(String.init)), ("Q.850 cause", call.q850Cause.map(String.init)),
            ("ring", call.ringSeconds.map { "\($0) s" }), ("talk", call.callSeconds.map { "\($0) s" }),
        ]
    }
}

extension LedgerCallRow {
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
    fileprivate var offset: String {
        let milliseconds = sinceInvite / 1000
        let fraction = String(abs(milliseconds % 1000))
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
    }
}

extension LedgerEventRow {
    /// The state of the event in a few words.
    fileprivate var fate: String {
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
