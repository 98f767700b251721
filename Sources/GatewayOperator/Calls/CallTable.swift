// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Primitives

/// The table of `herald calls list`: one call a line, at most 80 columns wide or with all facts.
///
/// The first calls decide on the widths of the columns. Calls that are followed later keep to them.
struct CallTable: Sendable {
    /// The form of the lines.
    struct Style: Sendable {
        /// All facts and whole texts, instead of 80 columns.
        var isWide = false
        /// Adds a column of customers, also for calls without one.
        var hasCustomers = false
        var isColoured = false
        /// False leaves out titles and days.
        var hasTitles = true
    }

    /// A column with the cell of a call.
    private struct Column: Sendable {
        let title: String
        /// A column of texts that may be cut; numbers stay whole.
        var mayBeCut = false
        var least = 0
        let cell: @Sendable (LedgerCallRow) -> String?

        /// The most characters of a telephone number with its plus sign (E.164 §6).
        private static let longestNumber = 16
        /// Columns for numbers and for texts in place of one, such as `0491570156 (unclear)`.
        static let mostOfNumber = 26

        /// True for a text, and in a column of numbers for one that is too long for a number.
        func isCut(_ cell: String) -> Bool { mayBeCut || cell.utf8.count > Self.longestNumber }
    }

    private let style: Style
    private let zone: LocalZone
    /// Nil before the first calls.
    private var layout: (columns: [Column], widths: [Int])?
    /// The day and zone of the last line.
    private var day = ""

    init(_ style: Style, in zone: LocalZone) { (self.style, self.zone) = (style, zone) }

    /// The lines of calls in their order, with titles before the first ones and a line for each new day.
    mutating func lines(_ calls: [LedgerCallRow]) -> String {
        var text = ""
        let layout = layout ?? makeLayout(calls)
        if self.layout == nil, style.hasTitles {
            text += ColumnWidths.line(layout.columns.map(\.title), layout.widths) + "\n"
        }
        self.layout = layout
        for call in calls {
            text += dayLine(of: call)
            var cells = layout.columns.map { Self.shown($0.cell(call)) }
            if !style.isWide {
                for place in cells.indices where layout.columns[place].isCut(cells[place]) {
                    cells[place] = TerminalText.cut(cells[place], to: layout.widths[place])
                }
            }
            let line = ColumnWidths.line(cells, layout.widths)
            text += (style.isColoured ? coloured(line, call) : line) + "\n"
        }
        return text
    }

    // MARK: Layout

    private func makeLayout(_ calls: [LedgerCallRow]) -> (columns: [Column], widths: [Int]) {
        let columns = style.isWide ? wideColumns(calls) : narrowColumns(calls)
        let widths = columns.map { column in
            let cells = calls.map { TerminalText.width(Self.shown(column.cell($0))) }
            let widest = max(TerminalText.width(column.title), column.least, cells.max() ?? 0)
            return style.isWide || column.mayBeCut ? widest : min(widest, Column.mostOfNumber)
        }
        guard !style.isWide else { return (columns, widths) }
        return (columns, ColumnWidths.fitted(widths, cutLast: columns.map { !$0.mayBeCut }))
    }

    private func narrowColumns(_ calls: [LedgerCallRow]) -> [Column] {
        let zone = zone
        var columns = [Column(title: "TIME", least: 8) { zone.timeOfDay($0.inviteAt / 1_000_000) }]
        columns += parties
        columns += customers(calls)
        columns += [
            Column(title: "BRAND", mayBeCut: true, least: 15) { $0.brandName },
            Column(title: "DECISION", mayBeCut: true, least: 14) { $0.decision },
            Column(title: "OUTCOME", mayBeCut: true, least: 9) { $0.outcomeShown },
        ]
        return columns + nodes(calls)
    }

    private func wideColumns(_ calls: [LedgerCallRow]) -> [Column] {
        let zone = zone
        var columns = nodes(calls)
        columns.append(Column(title: "TIME", least: 20) { zone.timestamp($0.inviteAt / 1_000_000) })
        if calls.contains(where: { !zone.isUTC(at: $0.inviteAt / 1_000_000) }) {
            columns.append(Column(title: "UTC", least: 20) { LocalZone.utc.timestamp($0.inviteAt / 1_000_000) })
        }
        columns.append(Column(title: "DIRECTION") { $0.direction })
        columns.append(Column(title: "TRUNK") { $0.trunk })
        columns += customers(calls)
        columns += parties
        columns += [
            Column(title: "BRAND") { $0.brandName }, Column(title: "DECISION") { $0.decision },
            Column(title: "OUTCOME") { $0.outcomeShown }, Column(title: "RING") { $0.ringSeconds.map { "\($0)s" } },
            Column(title: "TALK") { $0.callSeconds.map { "\($0)s" } },
            Column(title: "EVENTS") { call in
                call.events.map { "\($0.outcome) (\($0.state.word))" }.joined(separator: ", ")
            },
        ]
        return columns
    }

    private var parties: [Column] {
        [
            Column(title: "FROM", least: 12) { $0.callerShown },
            Column(title: "TO", least: 12) { $0.destination ?? $0.subscriber },
        ]
    }

    private func customers(_ calls: [LedgerCallRow]) -> [Column] {
        guard style.hasCustomers || calls.contains(where: { $0.customer != nil }) else { return [] }
        return [Column(title: "CUSTOMER", mayBeCut: true) { $0.customer }]
    }

    private func nodes(_ calls: [LedgerCallRow]) -> [Column] {
        guard calls.contains(where: { $0.node != nil }) else { return [] }
        return [Column(title: "GATEWAY", mayBeCut: true) { $0.node }]
    }

    // MARK: Lines

    /// The date and the zone of the following calls; empty for those of the day before, and where each line has them.
    private mutating func dayLine(of call: LedgerCallRow) -> String {
        guard !style.isWide, style.hasTitles else { return "" }
        let began = call.inviteAt / 1_000_000
        let offset = zone.isUTC(at: began) ? "" : " (UTC\(zone.timestamp(began).suffix(6)))"
        let day = "\(zone.wall(began).prefix(10)), times in \(zone.name(at: began))\(offset)\n"
        defer { self.day = day }
        return day == self.day ? "" : day
    }

    private static func shown(_ cell: String?) -> String {
        cell.flatMap { $0.isEmpty ? nil : TerminalText.visible($0) } ?? "-"
    }

    /// The line in green for a call with its brand; others as they are.
    private func coloured(_ line: String, _ call: LedgerCallRow) -> String {
        call.decision == "matched" ? "\u{1B}[32m\(line)\u{1B}[0m" : line
    }
}
