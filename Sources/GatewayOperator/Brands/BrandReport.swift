// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import GatewayStore
import Primitives

/// One brand with its numbers, logo, gates and calls: the text and the JSON of `herald brands show`.
struct BrandReport {
    /// The calls with the brand.
    struct Calls {
        /// Calls that are listed.
        static let most = 5
        /// Seconds of the counts: seven days.
        static let span: Int64 = 7 * 86_400

        let counts: CallCounts
        /// Seconds since 1970.
        let since: Int64
        /// The newest first.
        let last: [LedgerCallRow]
    }

    /// At least one; several where numbers of the brand differ in name, logo or reason.
    let rows: [BrandRow]
    let customer: String?
    /// The logo of the first row.
    let logo: LogoResponse
    /// The address of the public card; nil without cards.
    let cardURL: String?
    let gates: BrandingGates
    /// The source of the brands.
    let origin: String
    /// False if `branding.enabled` is.
    let isEnabled: Bool
    /// The calls, or why the ledger cannot be read.
    let calls: Result<Calls, any Error>

    private var closed: [String] {
        gates.all.filter { !$0.isOpen }.map(\.gate) + (isEnabled ? [] : ["branding.enabled of herald.yaml"])
    }

    private var numbers: Int { rows.reduce(0) { $0 + $1.numbers } }

    /// One fact a line, then the last calls; escaped for a terminal.
    func text(in zone: LocalZone) -> String {
        var lines: [(String, String)] = []
        var heading = ""
        for row in rows {
            let name = row.brandID.isEmpty ? row.name : "\(row.name) (\(row.brandID))"
            if name != heading { lines.append(("brand", name)) }
            heading = name
            let span = row.first == row.last ? "\(row.first)" : "\(row.first) to \(row.last)"
            lines.append(("numbers", "\(row.numbers), \(span)"))
            if let reason = row.callReason { lines.append(("reason", reason)) }
            if rows.count > 1 { lines.append(("logo", row.logoURL ?? "none")) }
        }
        if rows.count == 1 { lines.append(("logo", logo.text)) }
        if let cardURL { lines.append(("card", cardURL)) }
        if let changed = rows.map(\.updatedAt).max(), !changed.isEmpty { lines.append(("changed", changed)) }
        if let customer { lines.append(("customer", customer)) }
        lines.append(("brands", origin))
        lines.append(("gates", closed.isEmpty ? "all open" : "closed: " + closed.joined(separator: ", ")))
        lines.append(("calls", summary(in: zone)))
        let facts = lines.map { name, value in
            name + String(repeating: " ", count: max(1, 10 - name.count)) + TerminalText.visible(value) + "\n"
        }
        return facts.joined() + lastCalls(in: zone)
    }

    private func summary(in zone: LocalZone) -> String {
        let calls: Calls
        switch self.calls {
        case .success(let found): calls = found
        case .failure(let error): return "the ledger cannot be read: \(error)"
        }
        let summary = CallSummary(calls.counts, since: calls.since, zone: zone)
        guard let total = summary.total?.calls else { return "none in the last 7 days" }
        let outcomes = summary.outcomes.map { "\($0.count.calls) \($0.value)" }.joined(separator: ", ")
        return "\(total) in the last 7 days: \(outcomes)"
    }

    private func lastCalls(in zone: LocalZone) -> String {
        guard let calls = try? calls.get(), !calls.last.isEmpty else { return "" }
        var table = CallTable(CallTable.Style(), in: zone)
        return "\n" + table.lines(calls.last.reversed())
    }

    /// All facts; times in UTC, with the local time of each call.
    func json(in zone: LocalZone) -> [String: JSONValue?] {
        let brands = rows.map { JSONValue.object($0.json.compactMapValues { $0 }) }
        let calls = try? calls.get()
        let last = calls.map { calls in
            JSONValue.array(calls.last.map { .object($0.json(in: zone).compactMapValues { $0 }) })
        }
        let outcomes = calls.map { calls in
            JSONValue.object(
                Dictionary(
                    CallSummary(calls.counts, since: calls.since, zone: zone).outcomes.map {
                        ($0.value, .int($0.count.calls))
                    }, uniquingKeysWith: { first, _ in first }))
        }
        return [
            "brands": .array(brands), "numbers": .int(numbers), "customer": JSONValue(customer),
            "logo_in_calls": JSONValue(logo.obstacle == nil ? logo.shown : nil),
            "no_logo_because": JSONValue(logo.obstacle), "card_url": JSONValue(cardURL), "source": .string(origin),
            "closed_gates": .array(closed.map(JSONValue.string)), "calls_of_7_days": outcomes, "last_calls": last,
        ]
    }
}
