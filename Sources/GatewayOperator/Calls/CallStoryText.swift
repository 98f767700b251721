// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import Primitives

/// The story of one call for a terminal of 80 columns.
///
/// Text from the network is escaped, so no message can control the terminal.
struct CallStoryText {
    let call: LedgerCallRow
    /// The brand of the call as it is now; nil where it has gone or is another one.
    var brand: PresentBrand?
    let zone: LocalZone
    var isColoured = false

    static let width = 80

    private var story: CallStory { call.story }

    /// The whole story, with an empty line behind each part.
    var text: String {
        let parts = [title, card, missing, ladder, events, facts]
        return parts.filter { !$0.isEmpty }.map { $0.map { $0 + "\n" }.joined() }.joined(separator: "\n")
    }

    private var title: [String] {
        let lines = WrappedText.lines(visible(story.title), width: Self.width)
        return isColoured ? lines.map { "\u{1B}[1m\($0)\u{1B}[0m" } : lines
    }

    /// The card as a box, the logo below it.
    private var card: [String] {
        guard let card = CallCard(story, brand) else { return [] }
        let texts = [visible(card.name), card.callReason.map { TerminalText.visible($0) }, card.number.map(visible)]
        let inside = texts.compactMap { $0 }.flatMap { WrappedText.lines($0, width: 36) }
        let width = max(28, inside.map(TerminalText.width).max() ?? 0)
        let edge = String(repeating: "─", count: width + 2)
        let rows = inside.map { "  │ \(Self.padded($0, width)) │" }
        let below = [
            card.logo.map { "logo: \($0)" }, card.cardLink.map { "card: \($0)" }, card.remark,
        ].compactMap { $0 }
        return ["\(card.title):", "  ┌\(edge)┐"] + rows + ["  └\(edge)┘"]
            + below.flatMap { Self.lines(TerminalText.visible($0), indent: 2) }
    }

    private var missing: [String] {
        guard let missing = story.missing else { return [] }
        return Self.named("why", visible(missing.cause)) + Self.named("do", visible(missing.remedy))
    }

    private var ladder: [String] {
        LadderText(
            trunk: call.trunk, rungs: call.ladder.rungs, steps: call.steps,
            changes: story.changes.flatMap { $0.lines(brand, shown: { $0 }) }
        ).lines + (call.outcome == nil ? ["", "  The call is still in progress."] : [])
    }

    private var events: [String] {
        guard !call.events.isEmpty else { return ["  no event for the directory"] }
        return call.events.flatMap { Self.lines(TerminalText.visible("event \($0.outcome): \($0.fate)"), indent: 2) }
    }

    private var facts: [String] {
        let link = call.link.map { "  \(Self.padded("page", 12)) \(TerminalText.visible($0))" }
        return Self.named("began", zone.withUTC(call.inviteAt / 1_000_000))
            + call.facts.flatMap { Self.named($0.name, TerminalText.visible($0.value)) }
            // A link stays whole, so that a terminal can follow it.
            + [link].compactMap { $0 }
    }

    // MARK: Lines

    private func visible(_ text: StoryText) -> String { TerminalText.visible(text.text { $0 }) }

    /// A value behind its name, in columns.
    private static func named(_ name: String, _ value: String) -> [String] {
        WrappedText.lines(value, width: width - 15).enumerated().map { place, line in
            "  \(padded(place == 0 ? name : "", 12)) \(line)"
        }
    }

    private static func lines(_ text: String, indent: Int) -> [String] {
        WrappedText.lines(text, width: width - indent).map { String(repeating: " ", count: indent) + $0 }
    }

    /// The text with blanks behind it up to a number of columns.
    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - TerminalText.width(text)))
    }
}
