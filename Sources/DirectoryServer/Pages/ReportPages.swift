// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import HTTPTypes
import WebPages

/// The report of a month with its plots, and the same report as CSV.
struct ReportPages: Sendable {
    let desk: PageDesk

    var pages: [Page] {
        [
            desk.page(.get, "/report", entry: "Report") { try await show($0) },
            desk.page(.get, "/report.csv") { try await download($0) },
        ]
    }

    private func reports(_ request: OperatorRequest, _ month: String, _ name: String) async throws -> [MonthReport] {
        let database = request.database
        return try await request.longWork { _ in
            let account = name.isEmpty ? nil : try AccountList(database).find(name)
            return try MonthReports(database).reports(month: month, account: account)
        }
    }

    private func show(_ request: OperatorRequest) async throws -> PageResult {
        let month = request.page.query("month") ?? String(Timestamp.string(from: request.now).prefix(7))
        let chosen = request.page.query("account") ?? ""
        let (database, now) = (request.database, request.now)
        let accounts = try await request.blocking { try AccountList(database).all(now: now).map(\.name) }
        func form(_ problem: String?) -> EntryForm {
            EntryForm(
                "/report",
                [
                    .text("month", "Month", month, hint: "such as 2026-01, in UTC", type: "month", problem: problem),
                    .choice("account", "Account", chosen, [("", "all")] + accounts.map { ($0, $0) }),
                ], button: "Show", isGet: true)
        }
        let reports: [MonthReport]
        do {
            reports = try await self.reports(request, month, chosen)
        } catch let error as MonthReportError {
            return OperatorRequest.result(
                "Month report", parts: [PagePart(form: form(PageDesk.sentence(error)))], status: .unprocessableContent)
        }
        let csv = PagePath.with("/report.csv", ["month": month, "account": chosen.isEmpty ? nil : chosen])
        var parts = [
            PagePart(
                form: form(nil), linkList: .init(links: [PageLink(href: csv, linkText: "Download as CSV")]))
        ]
        for report in reports { parts += Self.parts(report) }
        return OperatorRequest.result("Month report", parts: parts)
    }

    private static func parts(_ report: MonthReport) -> [PagePart] {
        let tiles = [
            PagePart.Tile("Counted events", Amount.count(report.counted)),
            .init("Not counted", Amount.count(report.uncounted)),
            .init("Return calls", Amount.count(report.returned)),
            .init(
                "Sync deliveries", Amount.count(report.deliveries),
                "\(Amount.count(report.acknowledgements)) acknowledged"),
            .init(
                "Lookups with a brand", Amount.count(report.matched), "\(Amount.count(report.notMatched)) without"),
        ]
        var parts = [
            PagePart.tiles(
                tiles, heading: "\(report.account)\(report.mode == "live" ? "" : " (\(report.mode))"), \(report.month)")
        ]
        guard !report.rows.isEmpty else {
            parts[0].texts = ["No event was reported in this month."]
            return parts
        }
        parts.append(PagePart(plot: days(report)))
        parts.append(PagePart(table: brands(report)))
        var reasons = PageTable("Types and reasons", ["Type", "Reason", "#Events"], empty: "")
        for (key, count) in sums(report.rows, by: { [$0.outcome, $0.reason ?? "counted"] }) {
            reasons.add(.text(key[0]), .text(key[1]), .count(count))
        }
        parts.append(PagePart(table: reasons))
        return parts
    }

    /// A bar for each day of the month.
    private static func days(_ report: MonthReport) -> DayPlot {
        let byDay = Dictionary(grouping: report.rows, by: \.day)
        let values = (1...length(of: report.month)).map { day in
            let rows = byDay[report.month + (day < 10 ? "-0\(day)" : "-\(day)")] ?? []
            func sum(_ isCounted: Bool) -> Int {
                rows.reduce(0) { $0 + (($1.reason == nil) == isCounted ? $1.events : 0) }
            }
            return DayPlot.Value(label: "\(day)", first: sum(true), second: sum(false))
        }
        return DayPlot("Events a day of \(report.account)", values, names: ("counted", "not counted"), labelEvery: 2)
    }

    /// Days of a month such as `2026-02` in the Gregorian calendar.
    static func length(of month: String) -> Int {
        let parts = month.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 2, (1...12).contains(parts[1]) else { return 31 }
        let (year, number) = (parts[0], parts[1])
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][number - 1]
    }

    private static func brands(_ report: MonthReport) -> PageTable {
        let sums = sums(report.rows.filter { $0.reason == nil }) { [$0.name ?? $0.brandID ?? "without a brand"] }
        var table = PageTable(
            "Brands with the most counted events", ["Brand", "#Counted events"], empty: "None counted.")
        for (key, count) in sums.prefix(20) { table.add(.text(key[0]), .count(count)) }
        return table
    }

    private static func sums(
        _ rows: [MonthReport.Line], by key: (MonthReport.Line) -> [String]
    ) -> [(key: [String], count: Int)] {
        rows.reduce(into: [[String]: Int]()) { $0[key($1), default: 0] += $1.events }
            .map { (key: $0.key, count: $0.value) }
            .sorted { $0.count != $1.count ? $0.count > $1.count : $0.key.lexicographicallyPrecedes($1.key) }
    }

    private func download(_ request: OperatorRequest) async throws -> PageResult {
        let month = request.page.query("month") ?? ""
        let reports = try await reports(request, month, request.page.query("account") ?? "")
        return .file(
            bytes: Array(MonthReport.csv(reports).utf8), type: "text/csv; charset=utf-8", name: "report-\(month).csv")
    }
}
