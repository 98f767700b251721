// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import PostgreSQL

/// The statements by which an event that moved to another ledger file is settled in both.
///
/// The taker sends it under a row of its own. The row where it waited gets the same result, found by the key.
enum TakenEventStatements {
    /// Settles the rows of taken events whose rows here have been settled by these changes.
    static func settle(
        _ changes: SharedChanges, _ membership: ShippingStatements.Membership
    ) -> [PostgreSQLCommand] {
        changes.rows.filter { $0.table == .event }.flatMap { rows -> [PostgreSQLCommand] in
            let settled = settledPlaces(rows)
            guard !settled.isEmpty else { return [] }
            let results = results.map { column -> PostgreSQLValue in
                switch rows.columns[column.place] {
                case .integers(let values): .integers(settled.map { values[$0] })
                case .texts(let values): .texts(settled.map { values[$0] })
                case .bytes: .texts([])
                }
            }
            let taker = PostgreSQLValue.integer(membership.node)
            return [PostgreSQLCommand(settle, [taker] + results), PostgreSQLCommand(mark, [taker])]
        }
    }

    private static func settledPlaces(_ rows: SharedRows) -> [Int] {
        guard let state = results.first(where: { $0.name == "state" }),
            case .integers(let states) = rows.columns[state.place]
        else { return [] }
        return states.indices.filter { states[$0] != 0 }
    }

    /// The key of an event and the columns of its result.
    private static let results = ["key", "state", "counted", "status", "settled_at", "event_id", "reason"].compactMap {
        name in
        SharedTable.event.columns.firstIndex { $0.name == name }.map { place in
            (name: name, place: place, type: SharedTable.event.columns[place].sqlType)
        }
    }

    private static let settle = """
        UPDATE ledger.event AS event SET \(results.dropFirst().map { "\($0.name) = mine.\($0.name)" }.joined(separator: ", "))
        FROM ledger.taken_event AS taken, unnest(\(results.enumerated().map { "$\($0 + 2)::\($1.type)[]" }.joined(separator: ", ")))
            AS mine (\(results.map(\.name).joined(separator: ", ")))
        WHERE taken.taker = $1 AND NOT taken.is_settled AND event.node = taken.node AND event.ledger = taken.ledger
            AND event.id = taken.id AND event.key = mine.key AND event.state = 0
        """

    /// A row that its own gateway has settled meanwhile counts too.
    private static let mark = """
        UPDATE ledger.taken_event AS taken SET is_settled = true FROM ledger.event
        WHERE taken.taker = $1 AND NOT taken.is_settled AND event.node = taken.node AND event.ledger = taken.ledger
            AND event.id = taken.id AND event.state <> 0
        """
}
