// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Primitives

/// The report of an account for a calendar month, in UTC; computed from the daily counters, never from events.
package struct MonthReport: Codable, Hashable, Sendable {
    package let account: String
    /// `live`, or `testing` for an account whose events are no bill.
    package let mode: String
    /// Such as `2026-01`.
    package let month: String
    /// The zone of month and days: `UTC`.
    package let timeZone: String
    /// Events that count towards the month.
    package let counted: Int
    package let uncounted: Int
    /// Uncounted events, by the reason in their response.
    package let reasons: [String: Int]
    /// Return calls to a brand.
    package let returned: Int
    /// Sync responses that were delivered completely.
    package let deliveries: Int
    /// Sync responses that clients acknowledged.
    package let acknowledgements: Int
    /// Lookups with a result.
    package let matched: Int
    /// Lookups without a result.
    package let notMatched: Int
    package let rows: [Line]
    /// Calls by day and brand, in the order of days; of events that this version or a later one has received.
    package let calls: [DayCalls]

    package enum CodingKeys: String, CodingKey {
        case account, mode, month, reasons, deliveries, rows, calls
        case timeZone = "time_zone"
        case counted = "imprints_counted"
        case uncounted = "not_counted"
        case returned = "return_calls"
        case acknowledgements = "sync_acknowledgements"
        case matched = "lookups_matched"
        case notMatched = "lookups_not_matched"
    }

    /// Events of one day, brand, outcome and reason.
    package struct Line: Codable, Hashable, Sendable {
        package let day: String
        /// Nil for numbers without a brand.
        package let brandID: String?
        package let name: String?
        package let outcome: String
        /// The reason of uncounted events; nil for counted ones.
        package let reason: String?
        package let events: Int

        package enum CodingKeys: String, CodingKey {
            case day, outcome, reason, events
            case brandID = "brand_id"
            case name = "brand_name"
        }
    }

    init(
        account: String, mode: String, month: String, deliveries: Int, signals: [SignalCounts.Signal: Int],
        rows: [Line],
        calls: [DayCalls] = []
    ) {
        func sum(_ condition: (Line) -> Bool) -> Int { rows.reduce(0) { $0 + (condition($1) ? $1.events : 0) } }
        self.account = account
        self.mode = mode
        (self.month, timeZone) = (month, ReportDays.zone)
        self.deliveries = deliveries
        acknowledgements = signals[.acknowledged, default: 0]
        matched = signals[.matched, default: 0]
        notMatched = signals[.notMatched, default: 0]
        (self.rows, self.calls) = (rows, calls)
        counted = sum { $0.reason == nil }
        uncounted = sum { $0.reason != nil }
        returned = sum { CallResult.returnOutcomes.contains($0.outcome) }
        reasons = rows.reduce(into: [:]) { reasons, line in
            if let reason = line.reason { reasons[reason, default: 0] += line.events }
        }
    }

    /// The rows as CSV (RFC 4180) with a header line, safe for spreadsheets.
    package static func csv(_ reports: [MonthReport]) -> String {
        let columns = ["account", "day", "brand_id", "brand_name", "outcome", "counted", "reason", "events", "mode"]
        return reports.reduce(into: CSVLine.text(columns.map { .plain($0) })) { text, report in
            for line in report.rows {
                let cells = [
                    report.account, line.day, line.brandID ?? "", line.name ?? "", line.outcome,
                    line.reason == nil ? "yes" : "no", line.reason ?? "", "\(line.events)",
                    report.mode,
                ]
                text += CSVLine.text(cells.map { .text($0) })
            }
        }
    }
}

/// Creates monthly reports.
package struct MonthReports: Sendable {
    private let database: DirectoryDatabase

    package init(_ database: DirectoryDatabase) { self.database = database }

    /// Reports of one account, or of all in order of creation.
    ///
    /// - Parameter month: such as `2026-01`.
    /// - Throws: `MonthReportError`, or a database error.
    package func reports(month: String, account: AccountID? = nil) throws -> [MonthReport] {
        guard month.wholeMatch(of: /[0-9]{4}-(0[1-9]|1[0-2])/) != nil else { throw MonthReportError.badMonth(month) }
        return try database.pool.read { database in
            try database.rows(
                "SELECT id, name, mode FROM account WHERE id = ?1 OR ?1 IS NULL ORDER BY id", [account?.row]
            ).map { row in
                let account = AccountID(row: row["id"])
                return MonthReport(
                    account: row["name"], mode: row["mode"], month: month,
                    deliveries: try SyncDeliveries.delivered(to: account, in: month, database),
                    signals: try SignalCounts.counts(of: account, in: month, database),
                    rows: try Self.rows(account, month, database), calls: try DayCalls.rows(account, month, database))
            }
        }
    }

    private static func rows(
        _ account: AccountID, _ month: String, _ database: any SQLConnection
    ) throws -> [MonthReport.Line] {
        try database.rows(
            """
            SELECT day, nullif(brand_id, '') AS brand_id, name, outcome, nullif(counts.reason, '') AS reason, events
            FROM (SELECT day, brand_id, outcome, reason, CAST(sum(events) AS BIGINT) AS events FROM day_outcome
                WHERE account = ?1 AND day BETWEEN ?2 AND ?3 GROUP BY day, brand_id, outcome, reason) AS counts
                LEFT JOIN brand ON brand.account = ?1 AND brand.id = counts.brand_id
            ORDER BY day, counts.brand_id, outcome, counts.reason
            """, [account.row, month + "-01", month + "-31"]
        ).map { row in
            MonthReport.Line(
                day: row["day"], brandID: row["brand_id"], name: row["name"], outcome: row["outcome"],
                reason: row["reason"], events: row["events"])
        }
    }
}

/// Refusals of a report.
package enum MonthReportError: OperatorError, Hashable {
    case badMonth(String)

    package var kind: OperatorMistakeKind { .invalid }

    package var description: String {
        switch self {
        case .badMonth(let text): "\"\(text)\" is no month; write it such as 2026-01"
        }
    }
}
