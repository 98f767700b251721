// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import GatewayStore
import Host
import Primitives

/// The output formats of `herald calls`.
package enum CallsOutput: CaseIterable {
    /// Text in columns, comma-separated values, one JSON object a line.
    case table, csv, json

    /// Writes calls to standard output; `titles` puts column titles first, except in JSON.
    ///
    /// - Parameter hasCustomers: adds the column of customers to a table in which no call has one.
    func write(_ calls: [LedgerCallRow], titles: Bool, hasCustomers: Bool) throws {
        switch self {
        case .json:
            for call in calls { try Output.write(json: call.json) }
        case .csv:
            if titles { Output.write(CSVLine.shown(LedgerCallRow.csvTitles)) }
            for call in calls { Output.write(CSVLine.shown(call.csvCells)) }
        case .table: Output.write(Self.table(calls, titles: titles, hasCustomers: hasCustomers))
        }
    }

    /// The calls as a table, with the gateway and the customer of each if any call has one.
    static func table(_ calls: [LedgerCallRow], titles: Bool, hasCustomers: Bool = false) -> String {
        let hasNodes = calls.contains { $0.node != nil }
        let hasCustomers = hasCustomers || calls.contains { $0.customer != nil }
        var columns = hasNodes ? ["GATEWAY"] : []
        columns += ["TIME", "DIRECTION", "TRUNK"]
        if hasCustomers { columns.append("CUSTOMER") }
        columns += ["FROM", "TO", "BRAND", "DECISION", "OUTCOME", "RING", "TALK", "EVENTS"]
        var table = TextTable(titles ? columns : [])
        for call in calls {
            var cells = hasNodes ? [call.node] : []
            cells += [Timestamp.string(from: call.inviteAt / 1_000_000), call.direction, call.trunk]
            if hasCustomers { cells.append(call.customer) }
            cells += [
                call.callerShown, call.destination ?? call.subscriber, call.brandName, call.decision, call.outcomeShown,
                call.ringSeconds.map { "\($0)s" }, call.callSeconds.map { "\($0)s" },
                call.events.map { "\($0.outcome) (\($0.state.word))" }.joined(separator: ", "),
            ]
            table.add(cells)
        }
        return table.text
    }
}

extension LedgerCallRow {
    /// The caller's number, the text of an unclear one, or `withheld`.
    var callerShown: String? { callerShown { $0 } }

    /// - Parameter shown: the form in which the reader may see a number.
    func callerShown(_ shown: (String) -> String) -> String? {
        if decision == PassThroughReason.privacy.description { return "withheld" }
        return caller.map(shown) ?? callerReceived.map { shown($0) + " (unclear)" }
    }

    /// The outcome with its answerer, forwarding and number of attempts.
    var outcomeShown: String {
        var words = [outcome ?? "open"]
        if let answeredBy { words.append("by \(answeredBy)") }
        if isForwarded { words.append("forwarded") }
        if let continuedAs { words.append("goes on elsewhere as \(continuedAs)") }
        if attempts > 1 { words.append("\(attempts) attempts") }
        return words.joined(separator: ", ")
    }
}
