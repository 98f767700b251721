// SPDX-License-Identifier: Apache-2.0

import Glibc
import Primitives

extension BrandIndex {
    /// Saves the index, so that the next start loads it instead of building it.
    ///
    /// Writes a draft, syncs it, then renames it over `path`. After a crash the old or the new file is complete. Blocks
    /// on the disk; never called on the call path.
    public func save(to path: String) throws(BrandIndexFileError) {
        var header = BrandIndexHeader()
        header[.magic] = BrandIndexHeader.magic
        header[.version] = BrandIndexHeader.version
        header[.generation] = UInt64(bitPattern: generation)
        header[.profile] = profile.fingerprint
        let (listed, changed) = (SavedTable(numbers.table), SavedTable(numbers.changes))
        header[.numbers] = UInt64(numbers.count)
        header[.listed] = UInt64(listed.count)
        header[.slots] = UInt64(listed.keys.count)
        header[.listedBrands] = UInt64(numbers.tableBrands)
        header[.changed] = UInt64(changed.count)
        header[.changeSlots] = UInt64(changed.keys.count)
        header[.brands] = UInt64(brands.rows.count)
        header[.arena] = UInt64(brands.arena.count)
        header[.checksum] = header.checksum([listed, changed], brands.rows, brands.arena)
        do throws(FileReplacementError) {
            let file = try FileReplacement(of: path)
            try file.write(header.words)
            for table in [listed, changed] {
                try file.write(table.keys)
                try file.write(table.values)
            }
            try file.write(brands.rows)
            try file.write(brands.arena)
            try file.commit()
        } catch {
            throw .cannotWrite(path: error.path, code: error.code)
        }
    }

    /// Removes a saved index, if present.
    public static func removeSaved(at path: String) { unlink(path) }

    /// Loads and checks a saved index.
    ///
    /// - Throws: if the file is missing, damaged, or has another generation or profile. The caller then builds the
    ///   index from the cache.
    public static func load(
        from path: String, generation: Int64, profile: RenderingProfile
    ) throws(BrandIndexFileError) -> BrandIndex {
        let index = try SavedBrandIndex(path: path).index(profile: profile)
        guard index.generation == generation else {
            throw .otherGeneration(path: path, found: index.generation, expected: generation)
        }
        return index
    }
}

/// A saved index, loaded and checked, before its profile and generation are compared.
public struct SavedBrandIndex: Sendable {
    private let path: String
    private let header: BrandIndexHeader
    private let numbers: BrandedNumbers
    private let brands: RenderedBrands

    /// Loads the file and checks all of it.
    ///
    /// The file is read, not mapped. A mapped page can be evicted before a call needs it, and the file can change under
    /// the index. Blocks on the disk; never called on the call path.
    ///
    /// - Throws: if the file is missing or damaged.
    public init(path: String) throws(BrandIndexFileError) {
        let file = try WholeFile(reading: path)
        let header = try BrandIndexHeader(words: file.readArray(of: UInt64.self, BrandIndexHeader.wordCount))
        guard header[.magic] == BrandIndexHeader.magic, header[.version] == BrandIndexHeader.version else {
            throw .otherFormat(path: path)
        }
        guard let length = header.fileLength, length == file.length else { throw .damaged(path: path) }
        let listed = try SavedTable(file, slots: header[.slots], count: header[.listed])
        let changed = try SavedTable(file, slots: header[.changeSlots], count: header[.changed])
        let rows = try file.readArray(of: RenderedBrands.Row.self, Int(header[.brands]))
        let arena = try file.readArray(of: UInt8.self, Int(header[.arena]))
        guard header[.checksum] == header.checksum([listed, changed], rows, arena),
            header[.listedBrands] <= rows.count,
            let table = listed.table(valueLimit: Int(header[.listedBrands])),
            let changes = changed.table(valueLimit: rows.count, or: BrandedNumbers.gone),
            let numbers = BrandedNumbers(
                table, brands: Int(header[.listedBrands]), changes: changes, count: Int(header[.numbers])),
            let brands = RenderedBrands(rows: rows, arena: arena)
        else { throw .damaged(path: path) }
        self.path = path
        self.header = header
        self.numbers = numbers
        self.brands = brands
    }

    /// Returns the index if it was rendered with this profile.
    public func index(profile: RenderingProfile) throws(BrandIndexFileError) -> BrandIndex {
        guard header[.profile] == profile.fingerprint else { throw .otherProfile(path: path) }
        return BrandIndex(
            generation: Int64(bitPattern: header[.generation]), profile: profile, numbers: numbers, brands: brands)
    }
}

/// The unchecked arrays of a saved table.
private struct SavedTable {
    let keys: [UInt64]
    let values: [UInt32]
    let count: Int

    init(_ table: NumberTable) { (keys, values, count) = (table.keys, table.values, table.count) }

    /// Reads the next arrays of the file.
    init(_ file: WholeFile, slots: UInt64, count: UInt64) throws(BrandIndexFileError) {
        keys = try file.readArray(of: UInt64.self, Int(slots))
        values = try file.readArray(of: UInt32.self, Int(slots))
        self.count = Int(count)
    }

    func table(valueLimit: Int, or other: UInt32? = nil) -> NumberTable? {
        NumberTable(keys: keys, values: values, count: count, valueLimit: valueLimit, or: other)
    }
}

/// The header of a saved index: thirteen 64-bit integers in the machine's byte order, 104 bytes.
///
/// `magic` reveals the byte order.
private struct BrandIndexHeader: Sendable {
    enum Field: Int {
        case magic, version, generation, profile, numbers, listed, slots, listedBrands, changed, changeSlots, brands,
            arena, checksum
    }

    static let wordCount = 13
    /// The letters `HERALDIX` in little-endian order.
    static let magic: UInt64 = 0x5849_444C_4152_4548
    static let version: UInt64 = 2

    private(set) var words: [UInt64]

    init() { words = Array(repeating: 0, count: Self.wordCount) }

    init(words: [UInt64]) { self.words = words }

    subscript(field: Field) -> UInt64 {
        get { words[field.rawValue] }
        set { words[field.rawValue] = newValue }
    }

    /// The expected file length in bytes; nil if the counts exceed any file size.
    var fileLength: Int? {
        let counts = [.numbers, .listed, .slots, .changed, .changeSlots, .brands, .arena].map { self[$0] }
        guard counts.allSatisfy({ $0 < 1 << 48 }) else { return nil }
        let rows = Int(self[.brands]) * MemoryLayout<RenderedBrands.Row>.stride
        return Self.wordCount * 8 + Int(self[.slots] + self[.changeSlots]) * 12 + rows + Int(self[.arena])
    }

    /// Returns the checksum of the header, without its own field, and of the data.
    func checksum(_ tables: [SavedTable], _ rows: [RenderedBrands.Row], _ arena: [UInt8]) -> UInt64 {
        var head = words
        head[Field.checksum.rawValue] = 0
        var sum = Checksum()
        head.withUnsafeBytes { sum.combine($0) }
        for table in tables {
            table.keys.withUnsafeBytes { sum.combine($0) }
            table.values.withUnsafeBytes { sum.combine($0) }
        }
        rows.withUnsafeBytes { sum.combine($0) }
        arena.withUnsafeBytes { sum.combine($0) }
        return sum.value
    }
}
