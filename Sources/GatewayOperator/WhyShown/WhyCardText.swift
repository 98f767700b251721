// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A card as text of 80 columns.
struct WhyCardText {
    let card: WhyCard

    private static let (width, names) = (80, 16)

    var text: String {
        let head = WrappedText.lines(card.title, width: Self.width) + [""]
        let parts = card.parts.flatMap { [$0.title] + $0.rows.flatMap(Self.lines) + [""] }
        return (head + phone + parts).dropLast().map { $0 + "\n" }.joined()
    }

    private var phone: [String] {
        guard let phone = card.phone else { return [] }
        let lines = [phone.name, phone.callReason, phone.number].compactMap { $0 }
        return ["\(phone.title):"] + lines.flatMap { WrappedText.lines($0, width: 60).map { "  | " + $0 } } + [""]
    }

    private static func lines(_ row: WhyCard.Row) -> [String] {
        let name = CallStoryText.padded(row.name, names)
        let isLong = TerminalText.width(row.name) > names
        let values = WrappedText.lines(row.value, width: width - names - 3)
        let below = String(repeating: " ", count: names)
        let lines = values.enumerated().map { "  \($0 == 0 && !isLong ? name : below) \($1)" }
        return (isLong ? ["  \(row.name)"] : []) + lines
    }
}
