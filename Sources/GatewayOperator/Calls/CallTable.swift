// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Primitives

/// The table of `herald calls`: one call a line, at most 80 columns wide or with all facts.
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
    }

    /// Columns of a usual terminal.
    private static let width = 80
    /// Columns that a cut text keeps.
    private static let leastOfText = 7

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
        if self.layout == nil, style.hasTitles { text += Self.line(layout.columns.map(\.title), layout.widths) + "\n" }
        self.layout = layout
        for call in calls {
            text += dayLine(of: call)
            var cells = layout.columns.map { Self.shown($0.cell(call)) }
            if !style.isWide {
                for place in cells.indices {
                    cells[place] = Self.fitted(layout.columns[place], cells[place], layout.widths[place])
                }
            }
            let line = Self.line(cells, layout.widths)
            text += (style.isColoured ? coloured(line, call) : line) + "\n"
        }
        return text
    }

    // MARK: Layout

    private func makeLayout(_ calls: [LedgerCallRow]) -> (columns: [Column], widths: [Int]) {
        let columns = style.isWide ? wideColumns(calls) : narrowColumns(calls)
        var widths = columns.map { column in
            let cells = calls.map { TerminalText.width(Self.shown(column.cell($0))) }
            return max(TerminalText.width(column.title), column.least, cells.max() ?? 0)
        }
        guard !style.isWide else { return (columns, widths) }
        func excess() -> Int { widths.reduce(0, +) + 2 * (widths.count - 1) - Self.width }
        while excess() > 0 {
            let cuttable = widths.indices.filter { columns[$0].mayBeCut && widths[$0] > Self.leastOfText }
            guard let widest = cuttable.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
        }
        return (columns, widths)
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

    /// The cell in the width of its column; a number stays whole.
    private static func fitted(_ column: Column, _ cell: String, _ width: Int) -> String {
        guard column.mayBeCut, TerminalText.width(cell) > width else { return cell }
        var (text, left) = ("", width - 1)
        for character in cell {
            let wanted = TerminalText.width(String(character))
            guard wanted <= left else { break }
            text.append(character)
            left -= wanted
        }
        return text + "…"
    }

    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (cell, width) in zip(cells, widths) {
            line += cell + String(repeating: " ", count: max(0, width - TerminalText.width(cell)) + 2)
        }
        while line.last == " " { line.removeLast() }
        return line
    }

    /// The line in green for a call with its brand; others as they are.
    private func coloured(_ line: String, _ call: LedgerCallRow) -> String {
        call.decision == "matched" ? "\u{1B}[32m\(line)\u{1B}[0m" : line
    }
}
