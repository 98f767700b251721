// SPDX-License-Identifier: Apache-2.0

import Branding
import GRDB

/// The conditions of a filter in the SQL of a file, with their values.
struct CallConditions {
    private(set) var conditions: [String] = []
    private(set) var arguments = StatementArguments()

    /// All conditions but those that rows are found by: `before` and `row`.
    ///
    /// - Parameter name: the begin of an identifier that a call must have.
    init(_ filter: CallFilter, named name: CallName? = nil) {
        addNumbers(filter)
        addNames(filter)
        addIdentifiers(filter)
        if let trunk = filter.trunk { require("trunk = ?", trunk) }
        if let customer = filter.customer { require("customer = ?", customer) }
        if let provider = filter.provider { require("\(Self.provider) = ? COLLATE NOCASE", provider) }
        if let decisions = filter.decisions {
            conditions.append("decision IN (\(decisions.map { _ in "?" }.joined(separator: ", ")))")
            arguments += StatementArguments(decisions.sorted())
        }
        if filter.outcome == "OPEN" {
            require("ended_at IS NULL")
        } else if let outcome = filter.outcome {
            require("outcome = ?", outcome)
        }
        if let since = filter.since { require("invite_at >= ?", since * 1_000_000) }
        if let until = filter.until { require("invite_at < ?", (until + 1) * 1_000_000) }
        if let begun = name?.begun {
            conditions.append("(\(begun.sql))")
            arguments += begun.arguments
        }
        if !filter.namesCalls, name == nil { conditions.append("continued_as IS NULL") }
        if let rows = filter.rows { conditions.append("id IN (\(rows.map(String.init).joined(separator: ",")))") }
    }

    /// The SQL behind a range of rows.
    var sql: String { conditions.map { " AND " + $0 }.joined() }

    private mutating func require(_ condition: String, _ values: (any DatabaseValueConvertible)?...) {
        conditions.append(condition)
        arguments += StatementArguments(values)
    }

    private mutating func addNumbers(_ filter: CallFilter) {
        guard filter.number != nil || filter.received != nil || filter.numberEnd != nil else { return }
        let digits = filter.number.map { Int64($0.digits) }
        let end = filter.numberEnd.map { "%" + Self.literal($0) }
        require(
            """
            (caller = ? OR destination = ? OR caller_received LIKE ? ESCAPE '\\' OR caller LIKE ? ESCAPE '\\' \
            OR destination LIKE ? ESCAPE '\\' OR also_called LIKE ? ESCAPE '\\' OR also_called LIKE ? ESCAPE '\\')
            """, digits, digits, filter.received.map(Self.part), end, end,
            // A line of `CalledParty.stored` has a space behind the number.
            filter.number.map { "%\($0) %" }, end.map { $0 + " %" })
    }

    private mutating func addNames(_ filter: CallFilter) {
        if let name = filter.name {
            require(
                "(brand_name LIKE ? ESCAPE '\\' OR carrier_name LIKE ? ESCAPE '\\')", Self.part(name), Self.part(name))
        }
        if let brand = filter.brand {
            require("(brand_id = ? OR brand_name = ? COLLATE NOCASE AND NOT \(Self.isNamedBySigner))", brand, brand)
        }
    }

    private mutating func addIdentifiers(_ filter: CallFilter) {
        if let callID = filter.callID {
            requireAny("= ?", callID)
        }
        if let part = filter.callIDPart {
            requireAny("LIKE ? ESCAPE '\\'", Self.part(part))
        }
    }

    /// Requires that an identifier passes a comparison.
    ///
    /// For the list `? IN (column, …)` SQLite would build a table of each row.
    private mutating func requireAny(_ comparison: String, _ value: String) {
        conditions.append("(\(CallName.columns.map { "\($0) \(comparison)" }.joined(separator: " OR ")))")
        arguments += StatementArguments(CallName.columns.map { _ in value })
    }

    /// The provider of a row, for a query with the table of signatures or without.
    private static let provider = "(SELECT provider FROM call_signature WHERE call_signature.call = call.id)"

    /// Whether the name is that of a signature alone, as `CallRecord.isNamedBySigner`.
    private static let isNamedBySigner = """
        (decision = 'signed_name' OR decision = 'shadow' AND (coalesce(evidence, 0) >> 31) & 1 = 1)
        """

    /// The brand that a call in shadow would have shown.
    static let brandInShadow = "CASE WHEN decision = 'shadow' AND NOT \(isNamedBySigner) THEN brand_name END"

    /// A pattern of LIKE that finds a text anywhere.
    private static func part(_ text: String) -> String { "%" + literal(text) + "%" }

    /// Escapes a text for LIKE.
    private static func literal(_ text: String) -> String {
        text.reduce(into: "") { out, character in
            if "\\%_".contains(character) { out += "\\" }
            out.append(character)
        }
    }
}
