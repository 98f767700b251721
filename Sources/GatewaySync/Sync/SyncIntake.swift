// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import Foundation
import NIOCore

/// Takes in the body of one sync answer as it comes: checks its records and puts them, batch by batch, where they wait.
///
/// Nothing is in use before the whole body was there and was found good. Not for several threads at once.
struct SyncIntake {
    /// Records read at a time; a batch is held in memory.
    private static let batchBytes = 128 * 1024

    private let waiting: any BrandIntake
    private let limit: Int
    private var splitter = SyncBodySplitter(recordsKey: SyncResponse.CodingKeys.branding.stringValue)
    private var batch: [UInt8] = [UInt8(ascii: "[")]
    private var received = 0
    private(set) var tally = SyncTally()

    /// - Parameters:
    ///   - waiting: gets what can be used.
    ///   - limit: largest body in bytes.
    init(into waiting: any BrandIntake, limit: Int) {
        self.waiting = waiting
        self.limit = limit
    }

    /// Reads the next bytes of the body.
    ///
    /// - Throws: `DirectoryError.badAnswer`, or an error of the store.
    mutating func take(_ buffer: ByteBuffer) async throws {
        received += buffer.readableBytes
        guard received <= limit else {
            throw DirectoryError.badAnswer(reason: "it is larger than the limit of \(limit) bytes")
        }
        var rest = buffer
        // In slices, so that a batch cannot grow with what the network delivers at once.
        while let slice = rest.readSlice(length: min(16_384, rest.readableBytes)), slice.readableBytes > 0 {
            do {
                try splitter.feed(slice.readableBytesView) { record in
                    if batch.count > 1 { batch.append(UInt8(ascii: ",")) }
                    batch.append(contentsOf: record)
                }
            } catch let error as SyncBodyError {
                throw DirectoryError.badAnswer(reason: error.description)
            }
            if batch.count >= Self.batchBytes { try await store() }
        }
    }

    /// The end of the body.
    ///
    /// - Throws: `DirectoryError.badAnswer` when the answer is incomplete or not the contract's.
    mutating func finish() async throws -> SyncAnswer {
        guard splitter.isComplete else { throw DirectoryError.badAnswer(reason: SyncBodyError.cut.description) }
        guard splitter.hasRecords else { throw DirectoryError.badAnswer(reason: "branding is missing or no array") }
        try await store()
        return try SyncAnswer(splitter.values)
    }

    private mutating func store() async throws {
        guard batch.count > 1 else { return }
        batch.append(UInt8(ascii: "]"))
        let elements: [Element]
        do {
            elements = try JSONDecoder().decode([Element].self, from: Data(batch))
        } catch {
            throw DirectoryError.badAnswer(reason: "broken JSON among its records")
        }
        batch.removeAll(keepingCapacity: true)
        batch.append(UInt8(ascii: "["))
        let sorted = tally.sort(elements.map(\.item))
        try await waiting.add(sorted.records, inactive: sorted.inactive)
    }

    /// A malformed record does not cost the others.
    private struct Element: Decodable {
        let item: BrandingItem?

        init(from decoder: any Decoder) throws { item = try? BrandingItem(from: decoder) }
    }
}

/// How many records an answer had, and how many were left out and why.
package struct SyncTally: Hashable, Sendable {
    package private(set) var received = 0
    /// Active records that can be used.
    package private(set) var usable = 0
    /// Of the usable ones, those that name a logo.
    package private(set) var withLogo = 0
    /// Numbers the directory marked inactive.
    package private(set) var inactive = 0
    /// Records left out, by reason.
    package private(set) var rejected: [String: Int] = [:]

    package init() {}

    package var rejectedCount: Int { rejected.values.reduce(0, +) }

    /// Counts items and sorts them into records and inactive numbers; nil stands for what is no record at all.
    mutating func sort(_ items: [BrandingItem?]) -> (records: [BrandRecord], inactive: [InactiveNumber]) {
        var records: [BrandRecord] = []
        var inactive: [InactiveNumber] = []
        records.reserveCapacity(items.count)
        for item in items {
            received += 1
            guard let item else {
                rejected["no branding record", default: 0] += 1
                continue
            }
            do throws(BrandingItemError) {
                if item.isActive == false {
                    // A name is not needed to remove a number.
                    guard let number = E164Number(item.phoneNumber) else { throw .noValidNumber }
                    inactive.append(InactiveNumber(number: number, updatedAt: item.updatedAt ?? ""))
                } else {
                    let record = try item.record()
                    guard !Self.hasNUL(record) else {
                        rejected["NUL in a text", default: 0] += 1
                        continue
                    }
                    records.append(record)
                }
            } catch {
                rejected["\(error)", default: 0] += 1
            }
        }
        usable += records.count
        withLogo += records.count { $0.logoURL != nil }
        self.inactive += inactive.count
        return (records, inactive)
    }

    /// SQLite would cut such a text, and the record would differ from the stored one for ever.
    private static func hasNUL(_ record: BrandRecord) -> Bool {
        [record.name, record.brandID, record.logoURL ?? "", record.callReason ?? "", record.updatedAt]
            .contains { $0.utf8.contains(0) }
    }
}
