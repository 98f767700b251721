// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives

/// Draws a trace as a ladder of three columns: trunk, Herald, target.
///
/// Text from the network is escaped, so no message can control the terminal.
struct TraceLadder {
    private struct Call {
        let start: Int64
        /// The letters and digits in front of its lines.
        let mark: String
    }

    private static let column = 14
    private static let arrow = 22
    private static let remembered = 1000

    private var calls: [String: Call] = [:]
    private var order: [String] = []

    init() {}

    /// The lines of an event, each with its end; empty for an event without text.
    mutating func text(of line: TraceLine) -> String {
        var text =
            line.lost > 0 ? "  … \(line.lost) events are missing: they came faster than they could be read\n" : ""
        switch line.event {
        case .alive: break
        case .end(let reason): text += "trace ended: \(TerminalText.visible(reason))\n"
        case .message(let message):
            if calls[line.callID] == nil { text += begin(line) }
            text += row(line, Self.arrow(message))
            if message.cut > 0 { text += note(line, "\(message.cut) bytes of the message are left out") }
        case .decision(let decision, let evidence):
            text += note(line, "decision: " + TerminalText.visible(decision))
            text += note(line, "evidence: " + TerminalText.visible(evidence))
        case .outcome(let outcome): text += note(line, "outcome: " + TerminalText.visible(outcome))
        }
        return text
    }

    private mutating func begin(_ line: TraceLine) -> String {
        if order.count >= Self.remembered { calls[order.removeFirst()] = nil }
        let mark = TerminalText.visible(String(line.callID.prefix(8)))
        calls[line.callID] = Call(start: line.wallMicroseconds, mark: mark)
        order.append(line.callID)
        let time = OperatorTime.text(line.wallMicroseconds / 1_000_000)
        let callID = TerminalText.visible(line.callID.isEmpty ? "(no Call-ID)" : line.callID)
        return "\n\(time)  call \(callID)\n"
    }

    private func row(_ line: TraceLine, _ content: String) -> String {
        let call = calls[line.callID]
        return "\(Self.seconds(line.wallMicroseconds - (call?.start ?? line.wallMicroseconds)))  \(content)"
            + "  \(call?.mark ?? "")\n"
    }

    private func note(_ line: TraceLine, _ text: String) -> String {
        String(repeating: " ", count: 13) + text + "\n"
    }

    /// Seconds with milliseconds, right-aligned in eleven columns.
    private static func seconds(_ microseconds: Int64) -> String {
        let milliseconds = max(0, microseconds / 1000)
        let fraction = String(milliseconds % 1000)
        return padded(
            "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)", 9, atStart: true)
            + " s"
    }

    /// A trunk or an unknown peer is at the left of Herald, a PBX at the right.
    private static func arrow(_ message: TracedMessage) -> String {
        let isLeft = message.side != .pbx
        let pointsRight = message.isReceived == isLeft
        let peer = TerminalText.visible(message.peer)
        let label = labelled(message, pointsRight: pointsRight)
        let blank = String(repeating: " ", count: column + arrow + 4)
        return isLeft
            ? padded(peer, column) + " " + label + " herald" + String(repeating: " ", count: column + arrow + 2)
            : blank.dropLast(3) + " herald " + label + " " + padded(peer, column)
    }

    private static func labelled(_ message: TracedMessage, pointsRight: Bool) -> String {
        let suffix = message.transport == .udp ? "" : " " + message.transport.rawValue
        let text = cut(TerminalText.visible(message.summary), arrow - 6 - suffix.count) + suffix
        let rest = max(0, arrow - 5 - TerminalText.width(text))
        let line = "─ \(text) " + String(repeating: "─", count: rest)
        return pointsRight ? line + "─▶" : "◀─" + line
    }

    private static func cut(_ text: String, _ width: Int) -> String {
        guard TerminalText.width(text) > width else { return text }
        var shown = ""
        for character in text where TerminalText.width(shown + String(character)) < width { shown.append(character) }
        return shown + "…"
    }

    private static func padded(_ text: String, _ width: Int, atStart: Bool = false) -> String {
        let shown = cut(text, width)
        let blanks = String(repeating: " ", count: max(0, width - TerminalText.width(shown)))
        return atStart ? blanks + shown : shown + blanks
    }
}
