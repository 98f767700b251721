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
        func csv(_ of: String?) -> String {
            PagePath.with("/report.csv", ["month": month, "account": chosen.isEmpty ? nil : chosen, "of": of])
        }
        let links = [
            PageLink(href: csv("calls"), linkText: "Calls as CSV"),
            PageLink(href: csv(nil), linkText: "Events for the bill as CSV"),
        ]
        var parts = [
            PagePart(
                texts: [ReportDays(of: month, in: request.zone).text], form: form(nil), linkList: .init(links: links))
        ]
        for report in reports { parts += Self.parts(report) }
        return OperatorRequest.result("Month report", parts: parts)
    }

    private static func parts(_ report: MonthReport) -> [PagePart] {
        let title = "\(report.account)\(report.mode == "live" ? "" : " (\(report.mode))"), \(report.month)"
        return calls(report, title) + bill(report)
    }

    /// The calls by day and brand.
    private static func calls(_ report: MonthReport, _ title: String) -> [PagePart] {
        let total = CallSum(report.calls)
        let tiles = [
            PagePart.Tile("Answered", Amount.count(total.answered), total.share),
            .init("Missed", Amount.count(total.missed)), .init("Returned", Amount.count(total.returned)),
        ]
        var first = PagePart.tiles(tiles, heading: title)
        guard !report.calls.isEmpty else {
            first.texts = [
                report.rows.isEmpty
                    ? "No event was reported in this month."
                    : "No end of a call was reported in this month. Earlier versions did not count calls."
            ]
            return [first]
        }
        first.texts = [
            "The share is that of answered calls among answered and missed ones. Declined, blocked and failed calls are in none of these figures."
        ]
        let byDay = Dictionary(grouping: report.calls, by: \.day)
        let values = days(of: report.month).map { day, label in
            let sum = CallSum(byDay[day] ?? [])
            return DayPlot.Value(label: label, first: sum.answered, second: sum.missed)
        }
        let plot = DayPlot(
            "Calls a day of \(report.account), in UTC", values, names: ("answered", "missed"), labelEvery: 2)
        return [first, PagePart(plot: plot), PagePart(table: brands(report)), PagePart(table: lines(report))]
    }

    private static let callColumns = ["#Answered", "#Missed", "#Share answered", "#Returned"]

    private static func brands(_ report: MonthReport) -> PageTable {
        let sums = Dictionary(grouping: report.calls) { $0.brandID ?? "" }
            .map { (name: $1[0].name ?? $1[0].brandID ?? noBrand, sum: CallSum($1)) }
            .sorted { ($1.sum.calls, $0.name) < ($0.sum.calls, $1.name) }
        let caption =
            sums.count > mostBrands ? "Brands, the \(mostBrands) with the most calls" : "Brands"
        var table = PageTable(caption, ["Brand"] + callColumns, empty: "")
        for (name, sum) in sums.prefix(mostBrands) {
            table.add([PageTable.Cell.text(name)] + sum.cells)
        }
        return table
    }

    private static func lines(_ report: MonthReport) -> PageTable {
        let caption =
            report.calls.count > mostLines
            ? "Days and brands, the first \(mostLines) of \(Amount.count(report.calls.count)); the CSV has all"
            : "Days and brands"
        var table = PageTable(caption, ["Day", "Brand"] + callColumns, empty: "")
        for line in report.calls.prefix(mostLines) {
            let brand = PageTable.Cell.text(line.name ?? line.brandID ?? noBrand)
            table.add([PageTable.Cell.text(line.day), brand] + CallSum([line]).cells)
        }
        return table
    }

    private static let mostBrands = 50
    private static let mostLines = 400
    private static let noBrand = "without a brand"

    /// The events that count, and the reasons of the others.
    private static func bill(_ report: MonthReport) -> [PagePart] {
        let tiles = [
            PagePart.Tile("Counted events", Amount.count(report.counted)),
            .init("Not counted", Amount.count(report.uncounted)),
            .init(
                "Sync deliveries", Amount.count(report.deliveries),
                "\(Amount.count(report.acknowledgements)) acknowledged"),
            .init(
                "Lookups with a brand", Amount.count(report.matched), "\(Amount.count(report.notMatched)) without"),
        ]
        var parts = [PagePart.tiles(tiles, heading: "Bill of \(report.account)")]
        guard !report.rows.isEmpty else { return parts }
        let byDay = Dictionary(grouping: report.rows, by: \.day)
        let values = days(of: report.month).map { day, label in
            func sum(_ isCounted: Bool) -> Int {
                (byDay[day] ?? []).reduce(0) { $0 + (($1.reason == nil) == isCounted ? $1.events : 0) }
            }
            return DayPlot.Value(label: label, first: sum(true), second: sum(false))
        }
        let plot = DayPlot(
            "Events a day of \(report.account), in UTC", values, names: ("counted", "not counted"), labelEvery: 2)
        var reasons = PageTable("Types and reasons", ["Type", "Reason", "#Events"], empty: "")
        for (key, count) in sums(report.rows, by: { [$0.outcome, $0.reason ?? "counted"] }) {
            reasons.add(.text(key[0]), .text(key[1]), .count(count))
        }
        parts += [PagePart(plot: plot), PagePart(table: billed(report)), PagePart(table: reasons)]
        return parts
    }

    private static func billed(_ report: MonthReport) -> PageTable {
        let sums = sums(report.rows.filter { $0.reason == nil }) { [$0.name ?? $0.brandID ?? noBrand] }
        var table = PageTable(
            "Brands with the most counted events", ["Brand", "#Counted events"], empty: "None counted.")
        for (key, count) in sums.prefix(20) { table.add(.text(key[0]), .count(count)) }
        return table
    }

    /// The days of a month with their labels.
    private static func days(of month: String) -> [(day: String, label: String)] {
        (1...length(of: month)).map { (month + ($0 < 10 ? "-0\($0)" : "-\($0)"), "\($0)") }
    }

    /// Days of a month such as `2026-02` in the Gregorian calendar.
    static func length(of month: String) -> Int {
        let parts = month.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 2, (1...12).contains(parts[1]) else { return 31 }
        let (year, number) = (parts[0], parts[1])
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][number - 1]
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
        let isOfCalls = request.page.query("of") == "calls"
        let text = isOfCalls ? MonthReport.callsCSV(reports) : MonthReport.csv(reports)
        return .file(
            bytes: Array(text.utf8), type: "text/csv; charset=utf-8",
            name: "\(isOfCalls ? "calls" : "report")-\(month).csv")
    }
}

/// Calls of several days or brands by their end.
private struct CallSum {
    private(set) var answered = 0
    private(set) var missed = 0
    private(set) var returned = 0

    init(_ lines: [DayCalls]) {
        for line in lines {
            answered += line.answered
            missed += line.missed
            returned += line.returned
        }
    }

    /// Calls that were answered or missed; a return call is a second call.
    var calls: Int { answered + missed }

    /// The part of the calls that was answered, such as `62 %`; nil without a call.
    var share: String? { calls == 0 ? nil : "\((answered * 200 + calls) / (calls * 2)) %" }

    var cells: [PageTable.Cell] {
        [.count(answered), .count(missed), .text(share), .count(returned)]
    }
}
