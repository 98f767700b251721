// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import SafeText

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
    private let encoder = JSONEncoder()
    private var last: Int64 = -1

    package init(_ database: DirectoryDatabase, account: AccountID = .first, format: Format) throws {
        snapshot = try database.pool.snapshot()
        self.account = account
        self.format = format
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    /// The next piece of the file; nil at the end.
    package mutating func next() async throws -> [UInt8]? {
        let (account, last) = (account, last)
        let items = try await snapshot.read { database in
            try database.rows(
                """
                SELECT * FROM brand_number WHERE account = ? AND number > ? AND (active OR held)
                ORDER BY number LIMIT \(Self.pageSize)
                """, [account.row, max(last, 0)]
            ).map(BrandEntries.item)
        }
        var piece: [UInt8] = []
        if last < 0, format == .csv { piece += CSVLine.text(ImportRows.columns.map { .plain($0) }).utf8 }
        for item in items { piece += try line(item) }
        self.last = items.last.flatMap { Int64($0.phoneNumber) } ?? .max
        return piece.isEmpty ? nil : piece
    }

    private func line(_ item: BrandingItem) throws -> [UInt8] {
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
