// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Primitives

/// The calls of one day and brand by their end.
package struct DayCalls: Codable, Hashable, Sendable {
    /// In UTC, such as `2026-01-31`.
    package let day: String
    /// Nil for numbers without a brand.
    package let brandID: String?
    package let name: String?
    package let answered: Int
    package let missed: Int
    package let returned: Int

    package enum CodingKeys: String, CodingKey {
        case day, answered, missed, returned
        case brandID = "brand_id"
        case name = "brand_name"
    }

    static func rows(
        _ account: AccountID, _ month: String, _ database: any SQLConnection
    ) throws -> [DayCalls] {
        func sum(_ result: CallResult) -> String {
            """
            CAST(sum(CASE WHEN result = '\(result.rawValue)' THEN calls ELSE 0 END) AS BIGINT) AS \(result.rawValue)
            """
        }
        return try database.rows(
            """
            SELECT day, nullif(brand_id, '') AS brand_id, name, answered, missed, returned
            FROM (SELECT day, brand_id, \(CallResult.allCases.map(sum).joined(separator: ", ")) FROM day_call
                WHERE account = ?1 AND day BETWEEN ?2 AND ?3 GROUP BY day, brand_id) AS counts
                LEFT JOIN brand ON brand.account = ?1 AND brand.id = counts.brand_id
            ORDER BY day, counts.brand_id
            """, [account.row, month + "-01", month + "-31"]
        ).map { row in
            DayCalls(
                day: row["day"], brandID: row["brand_id"], name: row["name"], answered: row["answered"],
                missed: row["missed"], returned: row["returned"])
        }
    }
}

extension MonthReport {
    /// The calls by day and brand as CSV (RFC 4180) with a header line, safe for spreadsheets.
    package static func callsCSV(_ reports: [MonthReport]) -> String {
        let columns = ["account", "day", "brand_id", "brand_name", "answered", "missed", "returned", "mode"]
        return reports.reduce(into: CSVLine.text(columns.map { .plain($0) })) { text, report in
            for line in report.calls {
                let cells = [
                    report.account, line.day, line.brandID ?? "", line.name ?? "", "\(line.answered)",
                    "\(line.missed)", "\(line.returned)", report.mode,
                ]
                text += CSVLine.text(cells.map { .text($0) })
            }
        }
    }
}
