// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import TestFixtures
import Testing

@testable import GatewayStore

@Suite("Ledger: decisions in one pass")
struct DecidedCallsTests {
    private static let count = 2 * LedgerReader.piece + 1_000

    private let temporary = TemporaryFolder()
    private var path: String { temporary.path + "/herald.sqlite" }

    /// A ledger of more than two pieces; each tenth call comes from the PBX.
    init() throws {
        let database = try HeraldDatabase(folder: temporary.path)
        try database.ledger.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
                    INSERT INTO call (id, call_id, sip_call_id, direction, trunk, caller, decision, invite_at, evidence)
                    SELECT n, 'i' || n, 's' || n, iif(n % 10 = 0, 2, 1), 'carrier', 493012300000 + n, 'matched',
                        1767225600000000 + n, 1 FROM number
                    """, arguments: [Self.count])
        }
        try database.close()
    }

    private func rows(of path: String) throws -> (rows: [Int64], lost: [LostRows]) {
        var rows: [Int64] = []
        let reader = LedgerReader(try HeraldDatabase.ledgerReader(file: path))
        let lost = try reader.forEachDecided(matching: CallFilter(), of: path) { rows.append($0.row) }
        return (rows, lost)
    }

    @Test func `calls from trunks come once, the newest first`() throws {
        let (rows, lost) = try rows(of: path)
        #expect(rows == (1...Self.count).reversed().filter { $0 % 10 != 0 } && lost.isEmpty)
    }

    @Test func `damaged pages cost their piece, and the rest is read`() throws {
        // The rows may still be in the write-ahead log.
        try DatabaseQueue(path: path).writeWithoutTransaction { database in
            _ = try database.checkpoint(.truncate)
        }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let page = 4096
        let pages = Int(try file.seekToEnd()) / page
        for place in stride(from: pages * 2 / 5, to: pages / 2, by: 4) {
            try file.seek(toOffset: UInt64(place * page))
            try file.write(contentsOf: Data(repeating: 0xFF, count: page))
        }
        try file.close()
        let (rows, lost) = try rows(of: path)
        #expect(!lost.isEmpty)
        #expect(rows.count > 1_000)
        #expect(Set(rows).count == rows.count)
        let unread = lost.map(\.rows)
        #expect(rows.allSatisfy { row in !unread.contains { $0.contains(row) } })
    }
}
