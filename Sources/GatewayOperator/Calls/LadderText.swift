// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Primitives

/// Draws the ladder of a stored call in 80 columns: three lifelines, trunk, Herald and PBX.
///
/// ```text
///             trunk         Herald           PBX
///      0.000 s  │─ INVITE ────▶│─ INVITE ────▶│  INVITE with the brand
///      1.200 s  │◀─────── 180 ─│◀─────── 180 ─│  180, the phone rings
/// ```
struct LadderText {
    let trunk: String?
    let rungs: [CallLadder.Rung]
    /// The evidence below the INVITE.
    let steps: [DecisionSteps.Step]
    /// The changed header lines below the INVITE.
    let changes: [ChangedLines.Line]

    /// Columns in front of the first lifeline, and between two lifelines.
    private static let (margin, lane) = (15, 14)
    private static let legs = 2 * lane + 3
    private static let blank = String(repeating: " ", count: margin)

    /// All lines, the names of the lifelines first.
    var lines: [String] { heads + rungs.flatMap { row($0) + ($0.isFirst ? detail : []) } }

    private var heads: [String] {
        func gap(_ count: Int) -> String { String(repeating: " ", count: count) }
        let names = gap(Self.margin - 2) + "trunk" + gap(Self.lane - 5) + "Herald" + gap(Self.lane - 3) + "PBX"
        let name = trunk.map { gap(Self.margin - 2) + String(TerminalText.visible($0).prefix(60)) }
        return [names] + (name.map { [$0] } ?? [])
    }

    /// The message, its meaning at the right in further lines if it is long.
    private func row(_ rung: CallLadder.Rung) -> [String] {
        let offset = rung.offset
        let time = String(repeating: " ", count: max(0, Self.margin - 4 - offset.count)) + offset + " s  "
        let texts = WrappedText.lines(rung.what, width: CallStoryText.width - Self.margin - Self.legs - 2)
        return texts.enumerated().map { place, text in
            let (left, right) = place == 0 ? (rung.left, rung.right) : (nil, nil)
            let legs = "│\(Self.leg(left, rung.label))│\(Self.leg(right, rung.label))│"
            return "\(place == 0 ? time : Self.blank)\(legs)  \(text)"
        }
    }

    private static let free = String(repeating: " ", count: lane)

    private static func leg(_ arrow: CallLadder.Arrow?, _ label: String) -> String {
        let text = " \(label) "
        let line = String(repeating: "─", count: max(0, lane - 2 - text.count))
        return switch arrow {
        case nil: free
        case .toPBX: "─\(text)\(line)▶"
        case .toTrunk: "◀\(line)\(text)─"
        case .either: "─\(text)\(line)─"
        }
    }

    /// The evidence and the changed header lines.
    private var detail: [String] {
        let width = CallStoryText.width - Self.margin - 3
        let evidence = steps.flatMap { step in
            WrappedText.lines(TerminalText.visible(step.finding { $0 }), width: width - 13).enumerated().map {
                "\(CallStoryText.padded($0 == 0 ? step.name : "", 12)) \($1)"
            }
        }
        let headers = changes.flatMap { change in
            WrappedText.lines(TerminalText.visible(change.line), width: width - 2).enumerated().map {
                "\($0 == 0 ? change.mark : " ") \($1)"
            }
        }
        return (evidence + headers).map { "\(Self.blank)│  \($0)" }
    }
}
