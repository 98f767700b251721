// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import Primitives

/// Writes the active and held numbers of an account as a file for an import, piece by piece from one snapshot.
///
/// Held numbers are included, so that an import with replacement keeps them.
package struct BrandExport {
    /// The format of the file.
    package enum Format: String, Hashable, Sendable, CaseIterable {
        case csv
        /// One JSON object per line.
        case jsonl
    }

    private static let pageSize = 1000

    private let snapshot: any SQLSnapshot
    private let account: AccountID
    private let format: Format
    private var last: Int64 = -1

    package init(_ database: DirectoryDatabase, account: AccountID = .first, format: Format) throws {
        snapshot = try database.pool.snapshot()
        self.account = account
        self.format = format
    }

    /// The next piece of the file; nil at the end.
    package mutating func next() async throws -> [UInt8]? {
        let (account, last, format) = (account, last, format)
        // The lines are made on the thread of the snapshot, which belongs to no pool of tasks.
        let (lines, end) = try await snapshot.read { database in
            let items = try database.rows(
                """
                SELECT * FROM brand_number WHERE account = ? AND number > ? AND (active OR held)
                ORDER BY number LIMIT \(Self.pageSize)
                """, [account.row, max(last, 0)]
            ).map(BrandEntries.item)
            return (try Self.lines(items, format), items.last.flatMap { Int64($0.phoneNumber) } ?? .max)
        }
        var piece: [UInt8] = []
        if last < 0, format == .csv { piece += CSVLine.text(ImportRows.columns.map { .plain($0) }).utf8 }
        piece += lines
        self.last = end
        return piece.isEmpty ? nil : piece
    }

    private static func lines(_ items: [BrandingItem], _ format: Format) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try items.reduce(into: []) { $0 += try line($1, format, encoder) }
    }

    private static func line(_ item: BrandingItem, _ format: Format, _ encoder: JSONEncoder) throws -> [UInt8] {
        switch format {
        case .csv:
            let texts = [item.brandName, item.logoURL, item.callReason, item.brandID]
            let cells = [.plain(item.phoneNumber)] + texts.map { CSVLine.Cell.text($0 ?? "") }
            return Array(CSVLine.text(cells).utf8)
        case .jsonl:
            var item = item
            item.isActive = nil
            return try [UInt8](encoder.encode(item)) + [10]
        }
    }
}
