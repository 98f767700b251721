// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import Primitives

/// New events, with the texts of their rows one after the other in one piece of memory.
///
/// A text is not copied from place to place until the transaction.
struct EventRows {
    /// The texts of the events, which `EventMinter` writes.
    var texts = TextBuffer(capacity: 0)
    private var rows: [(id: Int64, event: MintedEvent)] = []

    var count: Int { rows.count }

    /// Adds an event for the row `id`.
    mutating func add(_ event: MintedEvent, id: Int64) { rows.append((id, event)) }

    /// Gives the events the rows from `first` on; returns the new rows by the old ones.
    mutating func renumber(from first: Int64) -> [Int64: Int64] {
        var names: [Int64: Int64] = [:]
        for place in rows.indices {
            let id = first + Int64(place)
            names[rows[place].id] = id
            rows[place].id = id
        }
        return names
    }

    /// Inserts the rows.
    ///
    /// - Parameter now: seconds since 1970.
    func store(in database: Database, now: Int64) throws {
        var places: [RowTexts.Place] = []
        try Self.inserts.run(rows.count, in: database) { insert, range in
            places.removeAll(keepingCapacity: true)
            for place in range {
                let (id, event) = rows[place]
                let before = Self.inserts.parameter(before: place - range.lowerBound)
                insert.bind(before + 1, id)
                places.append((before + 2, event.key))
                places.append((before + 3, event.number))
                places.append((before + 4, event.surface))
                places.append((before + 5, event.displayedAt))
                places.append((before + 6, event.meta))
                insert.bind(before + 7, now)
                if let customer = event.customer { places.append((before + 8, customer)) }
            }
            try insert.run(lending: texts, at: places)
        }
    }

    private static let inserts = RowInsert(
        into: "event (id, key, number, surface, displayed_at, meta, created_at, due_at, customer)", parameters: 8
    ) { before in [1, 2, 3, 4, 5, 6, 7, 7, 8].map { "?\(before + $0)" }.joined(separator: ",") }
}
