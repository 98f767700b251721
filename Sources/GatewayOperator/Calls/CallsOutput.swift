// SPDX-License-Identifier: Apache-2.0

import Branding
import GatewayStore
import Host
import Primitives

/// The output formats of `herald calls`.
package enum CallsOutput: CaseIterable, Sendable {
    /// Text in 80 columns, text with all facts, comma-separated values, one JSON object a line.
    case table, wide, csv, json

    /// Whether it is a table for people.
    var isTable: Bool { self == .table || self == .wide }
}

/// Writes calls to standard output; each part of a list goes on where the one before has ended.
struct CallsWriter: Sendable {
    private let output: CallsOutput
    private let zone: LocalZone
    private var table: CallTable
    private let links: CallLinks
    private var hasTitles = false

    /// - Parameter hasCustomers: adds the column of customers to a table in which no call has one.
    init(_ output: CallsOutput, hasCustomers: Bool, zone: LocalZone, links: CallLinks) {
        (self.output, self.zone, self.links) = (output, zone, links)
        let style = CallTable.Style(
            isWide: output == .wide, hasCustomers: hasCustomers, isColoured: Output.takesColour)
        table = CallTable(style, in: zone)
    }

    /// Writes further calls.
    mutating func write(_ calls: [LedgerCallRow]) throws {
        switch output {
        case .json: for call in calls { try Output.write(json: links.linked(call).json(in: zone)) }
        case .csv:
            if !hasTitles { Output.write(CSVLine.shown(LedgerCallRow.csvTitles)) }
            Output.write(calls.map { CSVLine.shown(links.linked($0).csvCells(in: zone)) }.joined())
        case .table, .wide: Output.write(table.lines(calls))
        }
        hasTitles = true
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
