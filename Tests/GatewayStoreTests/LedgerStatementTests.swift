// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB
import TestFixtures
import Testing

@testable import GatewayStore

@Suite("Ledger: texts of a row")
struct LedgerStatementTests {
    /// Three texts of each row, as the ledger has them after all rows were stored with the same statement.
    private static func stored(_ rows: [[String?]], lendsTexts: Bool) throws -> [[String?]] {
        let queue = try DatabaseQueue()
        return try queue.write { database in
            try database.execute(sql: "CREATE TABLE told (one TEXT, two TEXT, three TEXT)")
            let insert = try LedgerStatement(database, "INSERT INTO told VALUES (?1, ?2, ?3)", lendsTexts: lendsTexts)
            for row in rows {
                for (place, text) in row.enumerated() { insert.bind(CInt(place + 1), text) }
                try insert.run()
            }
            return try Row.fetchAll(database, sql: "SELECT * FROM told ORDER BY rowid").map { row in
                [row[0], row[1], row[2]]
            }
        }
    }

    @Test(
        arguments: [
            [["a", "", nil]],
            [["Zürich", "\u{1F4DE}", "a text that is longer than a string holds in itself"]],
            [["first", "row", "is long"], ["2nd", nil, ""], [nil, "third", "r"]],
            [[String(repeating: "x", count: 5_000), String(repeating: "y", count: 5_000), "z"]],
            [[String(repeating: "x", count: 8_192), "y", String(repeating: "z", count: 20_000)], ["a", "b", "c"]],
        ] as [[[String?]]])
    func `texts are stored as they were given, whatever their length`(rows: [[String?]]) throws {
        #expect(try Self.stored(rows, lendsTexts: false) == rows)
        #expect(try Self.stored(rows, lendsTexts: true) == rows)
    }

    @Test(arguments: [0, 1, 7, 8, 9, 16, 19, 32, 43, 64])
    func `rows of several to a statement are stored as they were given`(count: Int) throws {
        let texts = (0..<count).map { place in
            ["text \(place)", place.isMultiple(of: 3) ? nil : "", String(repeating: "long", count: place)]
        }
        let rows = RowInsert(into: "told", parameters: 3) { _ in "?,?,?" }
        let stored = try DatabaseQueue().write { database in
            try database.execute(sql: "CREATE TABLE told (one TEXT, two TEXT, three TEXT)")
            try rows.run(count, in: database, lendsTexts: true) { insert, places in
                for place in places {
                    let before = rows.parameter(before: place - places.lowerBound)
                    for (column, text) in texts[place].enumerated() { insert.bind(before + CInt(column + 1), text) }
                }
                try insert.run()
            }
            return try Row.fetchAll(database, sql: "SELECT * FROM told ORDER BY rowid").map { row in
                [row[0], row[1], row[2]] as [String?]
            }
        }
        #expect(stored == texts)
    }

    @Test(arguments: [1, 8, 19, 43])
    func `events of several to a statement have their own texts and customers`(count: Int) throws {
        let number = try #require(E164Number(digits: 61_491_570_150))
        var rows = EventRows()
        for place in 0..<count {
            let record = CallRecord(
                call: CallIdentifier(high: 1, low: UInt64(place)), direction: .outbound,
                customer: place.isMultiple(of: 3) ? "north" : nil, inviteAt: Int64(place) * 1_000_000)
            let original = ReturnedOriginal(
                callID: "\(place)", number: number, brandID: nil, endedAt: 0, eventID: nil)
            let event = EventMinter().returned(record, original: original, latency: place, to: &rows.texts)
            rows.add(event, id: Int64(place + 1))
        }
        let names = rows.renumber(from: 100)
        #expect(names[1] == 100 && names.count == count)

        let folder = TemporaryFolder()
        let stored = try HeraldDatabase(folder: folder.path).ledger.write { database in
            try rows.store(in: database, now: 7)
            return try Row.fetchAll(database, sql: "SELECT * FROM event ORDER BY id").map(LedgerEventRow.init(row:))
        }
        let given = (0..<count).map { place -> [String?] in
            let time = UTCTimestamp.string(seconds: Int64(place))
            return [
                "returned:\(place)", number.description, time,
                """
                {"call_event_id":"\(place)","destination_number_e164":"+61491570150","observed_at_utc":"\(time)",\
                "branding_applied":true,"identity_type":"brand","return_call_detected":true,\
                "return_call_latency_seconds":\(place)}
                """, place.isMultiple(of: 3) ? "north" : nil,
            ]
        }
        let written = stored.map { row -> [String?] in
            [row.key, row.number, row.displayedAt, row.meta, row.customer]
        }
        #expect(written == given)
        #expect(stored.allSatisfy { $0.createdAt == 7 && $0.dueAt == 7 && $0.state == .waiting })
    }
}
