// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB

/// The identifier by which an operator asks for a call.
package struct CallName: Hashable, Sendable {
    /// A SIP Call-ID or call id, or the begin of one; of a longer SIP Call-ID the part that the ledger keeps.
    package let text: String
    /// Whole SIP Call-IDs that mean the same call, such as the keyed hashes of a withheld caller's.
    package let others: [String]

    package init(_ text: String, others: [String] = []) {
        (self.text, self.others) = (CallRecord.keptCallID(text), others)
    }

    /// The columns of identifiers.
    static let columns = ["call_id", "sip_call_id", "attempt_call_id", "attempt_sip_call_id"]

    /// Whether a row has the name as a whole.
    var whole: (sql: String, arguments: StatementArguments) {
        let names = [text] + others
        let list = names.map { _ in "?" }.joined(separator: ", ")
        return (
            Self.columns.map { "\($0) IN (\(list))" }.joined(separator: " OR "),
            StatementArguments(Self.columns.flatMap { _ in names })
        )
    }

    /// Whether a row has the name as a whole, or an identifier that begins with it.
    ///
    /// By comparisons of bytes: a third of the time of LIKE.
    var begun: (sql: String, arguments: StatementArguments) {
        let ranges = Self.columns.map { "\($0) >= ? AND \($0) < ?" }.joined(separator: " OR ")
        let bounds = Self.columns.flatMap { _ in [text, text + "\u{10FFFF}"] }
        guard !others.isEmpty else { return (ranges, StatementArguments(bounds)) }
        return ("\(ranges) OR \(whole.sql)", StatementArguments(bounds) + whole.arguments)
    }
}

/// The calls that a name means, newest first.
package enum NamedCalls: Sendable, Hashable {
    /// Those that have the name.
    case whole([LedgerCallRow])
    /// The newest of those with an identifier that begins with the name, where none has it as a whole; two at most.
    case begun([LedgerCallRow])
}

extension LedgerReader {
    /// The calls that pass a filter and have a name as a whole, else those with an identifier that begins with it.
    ///
    /// Reads the rows of all calls once.
    ///
    /// - Parameter limit: the largest number of calls that have the name.
    package func calls(named name: CallName, _ filter: CallFilter, limit: Int) throws -> NamedCalls {
        var (whole, begun): ([Int64], [Int64]) = ([], [])
        let isWhole = name.whole
        _ = try read(filter, nil, named: name) { database, piece in
            let sql = "SELECT id, \(isWhole.sql) FROM call WHERE \(piece.condition) ORDER BY id DESC"
            let rows = try Row.fetchCursor(database, sql: sql, arguments: isWhole.arguments + piece.arguments)
            var isEmpty = true
            while whole.count < limit, let row = try rows.next() {
                isEmpty = false
                if row[1] as Bool? ?? false { whole.append(row[0]) } else if begun.count < 2 { begun.append(row[0]) }
            }
            return whole.count < limit ? (isEmpty ? .isEmpty : .hasCalls) : .isEnough
        }
        var those = CallFilter()
        those.rows = Set(whole.isEmpty ? begun : whole)
        let found = those.rows == [] ? [] : try calls(matching: those, limit: limit)
        return whole.isEmpty ? .begun(found) : .whole(found)
    }
}
