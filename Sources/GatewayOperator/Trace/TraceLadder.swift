// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives

/// Draws a trace as a ladder of three columns: trunk, Herald, target.
///
/// A narrow ladder has rows of 80 columns; only a Call-ID may be longer. Text from the network is escaped, so no message can control the terminal.
struct TraceLadder {
    private struct Call {
        let start: Int64
        /// The letters and digits in front of its lines.
        let mark: String
    }

    /// Columns of the parts of a row.
    private struct Layout {
        let time: Int
        /// Behind the time.
        let gap: Int
        let left: Int
        let right: Int
        let arrow: Int

        /// The usual reasons fit into an arrow of 16 columns, "180 Ringing" with none left.
        static let narrow = Layout(time: 10, gap: 1, left: 9, right: 9, arrow: 16)
        static let wide = Layout(time: 11, gap: 2, left: 14, right: 15, arrow: 22)
    }

    private static let name = " herald "
    private static let markLength = 8
    private static let remembered = 1000

    private let form: TableForm
    private let layout: Layout
    private var calls: [String: Call] = [:]
    private var order: [String] = []

    init(_ form: TableForm) { (self.form, layout) = (form, form == .narrow ? .narrow : .wide) }

    /// The lines of an event, each with its end; empty for an event without text.
    mutating func text(of line: TraceLine) -> String {
        var text =
            line.lost > 0 ? "  … \(line.lost) events are missing: they came faster than they could be read\n" : ""
        switch line.event {
        case .alive: break
        case .end(let reason): text += "trace ended: \(TerminalText.visible(reason))\n"
        case .message(let message):
            if calls[line.callID] == nil { text += begin(line, message) }
            text += row(line, legs(message))
            if message.cut > 0 { text += note("\(message.cut) bytes of the message are left out") }
        case .decision(let decision, let evidence):
            text += note("decision: " + TerminalText.visible(decision))
            text += note("evidence: " + TerminalText.visible(evidence))
        case .outcome(let outcome): text += note("outcome: " + TerminalText.visible(outcome))
        }
        return text
    }

    private mutating func begin(_ line: TraceLine, _ message: TracedMessage) -> String {
        if order.count >= Self.remembered { calls[order.removeFirst()] = nil }
        let mark = TerminalText.cut(
            TerminalText.visible(String(line.callID.prefix(Self.markLength))), to: Self.markLength)
        calls[line.callID] = Call(start: line.wallMicroseconds, mark: mark)
        order.append(line.callID)
        let time = OperatorTime.text(line.wallMicroseconds / 1_000_000)
        let callID = TerminalText.visible(line.callID.isEmpty ? "(no Call-ID)" : line.callID)
        let peer = TerminalText.visible(message.peer)
        // The address of an unknown peer is longer than its column.
        let isCut = message.side == .unknown && TerminalText.width(peer) > layout.left
        return "\n\(time)  call \(callID)\n" + (isCut ? note("unknown peer \(peer)") : "")
    }

    private func row(_ line: TraceLine, _ legs: String) -> String {
        let call = calls[line.callID]
        let time = Self.padded(
            Self.seconds(line.wallMicroseconds - (call?.start ?? line.wallMicroseconds)), layout.time, atStart: true)
        return "\(time)\(Self.blank(layout.gap))\(legs) \(call?.mark ?? "")\n"
    }

    /// A text below a row, in further lines of a narrow ladder if it is long.
    private func note(_ text: String) -> String {
        let begin = Self.blank(13)
        let lines = form == .wide ? [text] : WrappedText.lines(text, width: TableForm.columns - begin.count)
        return lines.map { begin + $0 + "\n" }.joined()
    }

    /// Seconds with milliseconds.
    private static func seconds(_ microseconds: Int64) -> String {
        let milliseconds = max(0, microseconds / 1000)
        let fraction = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) s"
    }

    /// A trunk or an unknown peer is at the left of Herald, a PBX at the right.
    private func legs(_ message: TracedMessage) -> String {
        let isLeft = message.side != .pbx
        let arrow = arrow(message, pointsRight: message.isReceived == isLeft)
        let peer = TerminalText.visible(message.peer)
        let (left, right) = (isLeft ? peer : "", isLeft ? "" : peer)
        let free = Self.blank(layout.arrow)
        return Self.padded(left, layout.left) + " " + (isLeft ? arrow : free) + Self.name + (isLeft ? free : arrow)
            + " " + Self.padded(right, layout.right)
    }

    /// An arrow with its label, which has the transport unless it is UDP.
    private func arrow(_ message: TracedMessage, pointsRight: Bool) -> String {
        let suffix = message.transport == .udp ? "" : " " + message.transport.rawValue
        // The two ends of an arrow take five columns.
        let most = layout.arrow - 5
        let text = TerminalText.cut(TerminalText.visible(message.summary), to: most - suffix.count) + suffix
        let line = "─ \(text) " + String(repeating: "─", count: max(0, most - TerminalText.width(text)))
        return pointsRight ? line + "─▶" : "◀─" + line
    }

    private static func padded(_ text: String, _ width: Int, atStart: Bool = false) -> String {
        let shown = TerminalText.cut(text, to: width)
        let blanks = blank(width - TerminalText.width(shown))
        return atStart ? blanks + shown : shown + blanks
    }

    private static func blank(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
}
