// SPDX-License-Identifier: Apache-2.0

package import Branding
import Foundation
package import Logging

/// Reads brands from a local file instead of a directory, for trials, benches and sites without network.
///
/// Each line is `number|name|logo|reason|brand id`; the last three are optional. Empty lines and lines that begin with
/// `#` are ignored. The index is saved beside the databases and used again while size and time of the file are the
/// same.
package struct BrandFile: Sendable {
    private let path: String
    private let savedPath: String
    private let profile: RenderingProfile
    private let logger: Logger

    package init(path: String, stateFolder: String, profile: RenderingProfile, logger: Logger) {
        self.path = path
        savedPath = stateFolder + "/brand-file.index"
        self.profile = profile
        self.logger = logger
    }

    /// The index of the file's records.
    ///
    /// - Throws: `BrandFileError` for an unreadable file. Lines without number or name are counted and logged.
    package func loadIndex() throws -> BrandIndex {
        let generation = try generation()
        if let saved = try? BrandIndex.load(from: savedPath, generation: generation, profile: profile) { return saved }
        guard let data = FileManager.default.contents(atPath: path) else { throw BrandFileError(path: path) }
        // As an array: iterating Data byte by byte took 11 s for a million lines.
        let bytes = [UInt8](data)
        var builder = BrandIndexBuilder(profile: profile, generation: generation, expectedCount: bytes.count / 64)
        var refused = 0
        for line in bytes.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
            if let record = Self.record(line) { builder.add(record) } else { refused += 1 }
        }
        if refused > 0 {
            logger.warning(
                "some lines of the brand file hold no number and name and are left out",
                metadata: ["file": "\(path)", "lines": "\(refused)"])
        }
        let index = builder.finish()
        do {
            try index.save(to: savedPath)
        } catch {
            logger.warning(
                "the index could not be saved; the next start builds it again", metadata: ["error": "\(error)"])
        }
        return index
    }

    /// Size and time of the file as one number, to match a saved index.
    private func generation() throws(BrandFileError) -> Int64 {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let size = attributes[.size] as? Int, let time = attributes[.modificationDate] as? Date
        else { throw BrandFileError(path: path) }
        return Int64(time.timeIntervalSince1970 * 1000) &* 1_000_003 &+ Int64(size)
    }

    private static func record(_ line: ArraySlice<UInt8>) -> BrandRecord? {
        let fields = line.split(separator: UInt8(ascii: "|"), maxSplits: 5, omittingEmptySubsequences: false)
        guard fields.count >= 2, let number = E164Number(plusDigits: fields[0]) else { return nil }
        func text(_ position: Int) -> String? {
            guard position < fields.count else { return nil }
            let isBlank = { (byte: UInt8) in byte == 32 || byte == 9 || byte == 13 }
            var text = fields[position].drop(while: isBlank)
            while let last = text.last, isBlank(last) { text.removeLast() }
            return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
        }
        guard let name = text(1) else { return nil }
        return BrandRecord(
            number: number, name: name, brandID: text(4) ?? "", logoURL: text(2), callReason: text(3), updatedAt: "")
    }
}

/// An unreadable brand file; the gateway does not start without it.
package struct BrandFileError: Error, CustomStringConvertible {
    package let path: String

    package var description: String { "the brand file \(path) cannot be read; see brands.file in the configuration" }
}
