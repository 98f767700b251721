// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import Foundation
import NIOCore

/// Reads the body of one sync response as it arrives, checks its records and stages them in batches.
///
/// No record is used before the whole body is received and valid. Not thread-safe.
struct SyncIntake {
    /// Bytes of records in a batch. A batch is held in memory.
    private static let batchBytes = 128 * 1024

    private let waiting: any BrandIntake
    private let maxBody: Int
    private var splitter = SyncBodySplitter(recordsKey: SyncResponse.CodingKeys.branding.stringValue)
    private var batch: [UInt8] = [UInt8(ascii: "[")]
    private var received = 0
    private(set) var tally = SyncTally()

    /// - Parameters:
    ///   - waiting: stages the usable records.
    ///   - maxBody: largest body in bytes.
    init(into waiting: any BrandIntake, maxBody: Int) {
        self.waiting = waiting
        self.maxBody = maxBody
    }

    /// Reads the next bytes of the body.
    ///
    /// - Throws: `DirectoryError.badResponse`, or an error of the store.
    mutating func take(_ buffer: ByteBuffer) async throws {
        received += buffer.readableBytes
        guard received <= maxBody else {
            throw DirectoryError.badResponse(reason: "it is larger than the limit of \(maxBody) bytes")
        }
        var rest = buffer
        // In slices, so that a batch does not grow with the size of a network read.
        while let slice = rest.readSlice(length: min(16_384, rest.readableBytes)), slice.readableBytes > 0 {
            do {
                try splitter.feed(slice.readableBytesView) { record in
                    if batch.count > 1 { batch.append(UInt8(ascii: ",")) }
                    batch.append(contentsOf: record)
                }
            } catch let error as SyncBodyError {
                throw DirectoryError.badResponse(reason: error.description)
            }
            if batch.count >= Self.batchBytes { try await store() }
        }
    }

    /// Handles the end of the body.
    ///
    /// - Throws: `DirectoryError.badResponse` if the response is incomplete or outside the contract.
    mutating func finish() async throws -> ReceivedSync {
        guard splitter.isComplete else { throw DirectoryError.badResponse(reason: SyncBodyError.cut.description) }
        guard splitter.hasRecords else { throw DirectoryError.badResponse(reason: "branding is missing or no array") }
        try await store()
        return try ReceivedSync(splitter.values)
    }

    private mutating func store() async throws {
        guard batch.count > 1 else { return }
        batch.append(UInt8(ascii: "]"))
        let elements: [Element]
        do {
            elements = try JSONDecoder().decode([Element].self, from: Data(batch))
        } catch {
            throw DirectoryError.badResponse(reason: "broken JSON among its records")
        }
        batch.removeAll(keepingCapacity: true)
        batch.append(UInt8(ascii: "["))
        let sorted = tally.sort(elements.map(\.item))
        try await waiting.add(sorted.records, inactive: sorted.inactive)
    }

    /// A malformed record does not affect the others.
    private struct Element: Decodable {
        let item: BrandingItem?

        init(from decoder: any Decoder) throws { item = try? BrandingItem(from: decoder) }
    }
}

/// Counts of a response's records: usable, inactive and rejected with reasons.
package struct SyncTally: Hashable, Sendable {
    package private(set) var received = 0
    /// Usable active records.
    package private(set) var usable = 0
    /// Usable records with a logo.
    package private(set) var withLogo = 0
    /// Numbers that the directory marked inactive.
    package private(set) var inactive = 0
    /// Rejected records, by reason.
    package private(set) var rejected: [String: Int] = [:]

    package var rejectedCount: Int { rejected.values.reduce(0, +) }

    /// Counts items and separates records from inactive numbers. Nil is a malformed record.
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
                    // The removal of a number needs no name.
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

    /// SQLite would truncate such a text, and the record would always differ from the stored one.
    private static func hasNUL(_ record: BrandRecord) -> Bool {
        [record.name, record.brandID, record.logoURL ?? "", record.callReason ?? "", record.updatedAt]
            .contains { $0.utf8.contains(0) }
    }
}
