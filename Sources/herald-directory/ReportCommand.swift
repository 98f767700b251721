// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore
import Foundation
import Host
import Primitives

/// `herald-directory report`: the monthly reports of accounts.
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Report a month: counted imprints, outcomes by brand and day, return calls.",
        discussion: """
            Example:
              herald-directory report
              herald-directory report 2026-01
              herald-directory report 2026-01 --account acme --csv > acme-2026-01.csv
            """)

    @Argument(help: "The month, such as 2026-01, in UTC. The present month by default.")
    var month: String?

    @Flag(help: "Comma-separated values.")
    var csv = false

    @Flag(help: "All columns and whole cells, instead of 80 columns.")
    var wide = false

    @Flag(help: "One JSON object per account.")
    var json = false

    @Option(help: ArgumentHelp("Only this account; all accounts by default.", valueName: "account"))
    var account: String?

    @OptionGroup var options: StateOptions

    func validate() throws {
        let forms = [("--csv", csv), ("--json", json), ("--wide", wide)].filter(\.1).map(\.0)
        if forms.count > 1 { throw ValidationError("\(forms[0]) and \(forms[1]) exclude each other") }
    }

    func run() throws {
        let database = try options.open()
        let reports = try reportingRefusals {
            let only = try account.map { try AccountList(database).find($0) }
            let month = month ?? String(Date().formatted(.iso8601).prefix(7))
            return try MonthReports(database).reports(month: month, account: only)
        }
        if csv { return Output.write(MonthReport.csv(reports)) }
        for report in reports {
            if json { try Output.write(json: report) } else { write(report) }
        }
        if !json, let month = reports.first?.month {
            Output.write(ReportDays(of: month, in: .ofProcess).text + "\n")
        }
    }

    private static func count(_ count: Int, _ thing: String) -> String { "\(count) \(thing)\(count == 1 ? "" : "s")" }

    private func write(_ report: MonthReport) {
        let reasons = report.reasons.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let mode = report.mode == "live" ? "" : " (\(report.mode))"
        let counted =
            "\(report.account)\(mode) \(report.month): \(report.counted) counted, \(report.uncounted) not counted"
            + (reasons.isEmpty ? "" : " (\(reasons.joined(separator: ", ")))")
            + ", \(Self.count(report.returned, "call")) returned"
        let syncs =
            "\(Self.count(report.deliveries, "sync")) delivered, \(report.acknowledgements) acknowledged; lookups: "
            + "\(report.matched) matched, \(report.notMatched) not matched"
        for text in [counted, syncs] {
            let lines = WrappedText.lines(TerminalText.visible(text), width: TableForm.columns)
            Output.write(lines.map { $0 + "\n" }.joined())
        }
        guard !report.rows.isEmpty else { return }
        let rows = report.rows.map {
            [$0.day, $0.brandID, $0.name, $0.outcome, $0.reason == nil ? "yes" : $0.reason, "\($0.events)"]
        }
        Output.write(
            table: ["DAY", "BRAND ID", "BRAND", "OUTCOME", "COUNTED", "EVENTS"], wide ? .wide : .narrow,
            whole: ["DAY", "BRAND ID", "OUTCOME"], rows)
    }
}
