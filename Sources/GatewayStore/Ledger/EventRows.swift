// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB

/// New events as the texts of their rows, one after the other in one piece of memory.
///
/// An event has some twenty texts. Written at once, they are not copied from place to place until the transaction.
struct EventRows {
    private var bytes = TextBuffer(capacity: 0)
    private var places: [RowTexts.Place] = []
    private var rows: [(id: Int64, places: Range<Int>)] = []
    private var meta = OutboxMeta()

    var count: Int { rows.count }

    /// Adds an event for the row `id`.
    mutating func add(_ event: OutcomeEvent, id: Int64) {
        let (start, before) = (places.count, Self.inserts.parameter(before: rows.count))
        put(event.key, at: before + 2)
        put(event.number, at: before + 3)
        put(event.surface, at: before + 4)
        put(event.displayedAt, at: before + 5)
        meta.encode(event.meta)
        meta.json.withUnsafeBytes { put($0, at: before + 6) }
        if let customer = event.customer { put(customer, at: before + 8) }
        rows.append((id, start..<places.count))
    }

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
        try Self.inserts.run(rows.count, in: database) { insert, range in
            for place in range {
                let before = Self.inserts.parameter(before: place)
                insert.bind(before + 1, rows[place].id)
                insert.bind(before + 7, now)
            }
            let texts = rows[range.lowerBound].places.lowerBound..<rows[range.upperBound - 1].places.upperBound
            try insert.run(lending: bytes, at: places[texts])
        }
    }

    private mutating func put(_ text: String, at index: CInt) {
        var text = text
        text.withUTF8 { put(UnsafeRawBufferPointer($0), at: index) }
    }

    private mutating func put(_ text: UnsafeRawBufferPointer, at index: CInt) {
        places.append((index, bytes.append(text)))
    }

    private static let inserts = RowInsert(
        into: "event (id, key, number, surface, displayed_at, meta, created_at, due_at, customer)", parameters: 8
    ) { before in [1, 2, 3, 4, 5, 6, 7, 7, 8].map { "?\(before + $0)" }.joined(separator: ",") }
}
