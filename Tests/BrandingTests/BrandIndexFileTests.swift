// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Branding

@Suite("Saved brand index")
struct BrandIndexFileTests {
    private static func sample(generation: Int64 = 7, profile: RenderingProfile = .init()) throws -> BrandIndex {
        var builder = BrandIndexBuilder(profile: profile, generation: generation, expectedCount: 300)
        for offset in UInt64(0)..<300 {
            builder.add(try BrandIndexTests.record(61_255_500_000 + offset * 37, "Brand \"\(offset % 20)\""))
        }
        return builder.finish()
    }

    private static func load(
        _ file: TemporaryFile, generation: Int64 = 7, profile: RenderingProfile = .init()
    ) -> Result<BrandIndex, BrandIndexFileError> {
        Result { () throws(BrandIndexFileError) in
            try BrandIndex.load(from: file.path, generation: generation, profile: profile)
        }
    }

    @Test func `a loaded index equals the saved index`() throws {
        let file = TemporaryFile()
        let index = try Self.sample()
        try index.save(to: file.path)
        let loaded = try Self.load(file).get()
        #expect(loaded.count == 300)
        #expect(loaded.brandCount == 20)
        #expect(loaded.generation == 7)
        #expect(loaded.profile == index.profile)
        for offset in UInt64(0)..<300 {
            let number = try BrandIndexTests.number(61_255_500_000 + offset * 37)
            let entry = try #require(loaded.entry(for: number))
            for part in BrandPart.allCases { #expect(loaded.text(part, entry) == index.text(part, entry)) }
            #expect(loaded.logoURL(of: entry) == "https://logos.example/1.png")
            let stranger = try BrandIndexTests.number(number.digits + 1)
            #expect(loaded.entry(for: stranger) == nil)
        }
    }

    @Test func `the delta table is saved with the base table`() throws {
        let file = TemporaryFile()
        var change = BrandIndexChange(of: try Self.sample(), generation: 8, deltaLimit: 100)
        let (gone, renamed, added) = (UInt64(61_255_500_000), UInt64(61_255_500_037), UInt64(61_255_500_001))
        change.remove(try BrandIndexTests.number(gone))
        for digits in [renamed, added] { change.add(try BrandIndexTests.record(digits, "New")) }
        let index = change.finish()
        #expect(index.numbers.changes.count == 3)
        try index.save(to: file.path)
        let loaded = try Self.load(file, generation: 8).get()
        #expect(loaded.count == 300)
        #expect(try BrandIndexTests.name(of: gone, in: loaded) == nil)
        #expect(try BrandIndexTests.name(of: renamed, in: loaded) == "New")
        #expect(try BrandIndexTests.name(of: added, in: loaded) == "New")
        #expect(try BrandIndexTests.name(of: 61_255_500_074, in: loaded) == "Brand \"2\"")
    }

    @Test func `an empty index can be saved and loaded`() throws {
        let file = TemporaryFile()
        try BrandIndex.empty(generation: 7).save(to: file.path)
        #expect(try Self.load(file).get().count == 0)
    }

    @Test func `saving replaces the file and leaves no draft`() throws {
        let file = TemporaryFile()
        file.write(Array("not an index".utf8))
        try Self.sample().save(to: file.path)
        try Self.sample(generation: 8).save(to: file.path)
        #expect(try Self.load(file, generation: 8).get().count == 300)
        #expect(access(file.path + ".new", F_OK) != 0)
    }

    @Test func `a wrong generation, a wrong profile and a missing file have errors of their own`() throws {
        let file = TemporaryFile()
        #expect(throws: BrandIndexFileError.missing(path: file.path)) { try Self.load(file).get() }
        try Self.sample().save(to: file.path)
        #expect(throws: BrandIndexFileError.otherGeneration(path: file.path, found: 7, expected: 8)) {
            try Self.load(file, generation: 8).get()
        }
        let others = [
            RenderingProfile(maxNameBytes: 30), RenderingProfile(maxReasonCharacters: 30),
            RenderingProfile(percent: .keep), RenderingProfile(quotes: .typographic),
            RenderingProfile(allowInsecureLogos: true),
        ]
        // A property without a row here may be missing in the fingerprint; `logos` has a test of its own.
        #expect(Mirror(reflecting: RenderingProfile()).children.count == others.count + 1)
        for profile in others {
            #expect(throws: BrandIndexFileError.otherProfile(path: file.path)) {
                try Self.load(file, profile: profile).get()
            }
        }
    }

    @Test func `a file that is not an index is rejected`() {
        let file = TemporaryFile()
        file.write([UInt8](repeating: 0x41, count: 4096))
        #expect(throws: BrandIndexFileError.otherFormat(path: file.path)) { try Self.load(file).get() }
        file.write([])
        #expect(throws: BrandIndexFileError.damaged(path: file.path)) { try Self.load(file).get() }
    }

    @Test func `a folder in place of the file is a system error`() {
        let file = TemporaryFile()
        #expect(throws: BrandIndexFileError.cannotRead(path: file.folder, code: EINVAL)) {
            try BrandIndex.load(from: file.folder, generation: 7, profile: .init())
        }
        #expect(throws: BrandIndexFileError.self) { try Self.sample().save(to: file.folder + "/missing/index") }
    }

    @Test func `a flipped bit is detected in every part of the file`() throws {
        let file = TemporaryFile()
        try Self.sample().save(to: file.path)
        let whole = file.read()
        // Flips a bit in every header byte and every seventh later byte, which covers keys, values, rows, arena and
        // end.
        for position in Array(0..<104) + Array(stride(from: 104, to: whole.count, by: 7)) + [whole.count - 1] {
            var damaged = whole
            damaged[position] ^= 1 << UInt8(position % 8)
            file.write(damaged)
            guard case .failure = Self.load(file) else {
                Issue.record("byte \(position) of \(whole.count) changed and the index was loaded")
                continue
            }
        }
        file.write(whole)
        #expect(try Self.load(file).get().count == 300)
    }

    @Test func `a truncated or extended file is detected`() throws {
        let file = TemporaryFile()
        try Self.sample().save(to: file.path)
        let whole = file.read()
        for length in Array(0..<104) + Array(stride(from: 104, to: whole.count, by: 101)) + [whole.count - 1] {
            file.write(Array(whole[..<length]))
            #expect(throws: BrandIndexFileError.damaged(path: file.path)) { try Self.load(file).get() }
        }
        file.write(whole + [0])
        #expect(throws: BrandIndexFileError.damaged(path: file.path)) { try Self.load(file).get() }
    }

    @Test func `swapped values are detected`() throws {
        let file = TemporaryFile()
        try Self.sample().save(to: file.path)
        var bytes = file.read()
        // Two different values at the end of the arena, in the same lane of the checksum.
        let end = bytes.count - 64
        for offset in 0..<8 { bytes.swapAt(end + offset, end - 32 + offset) }
        file.write(bytes)
        #expect(throws: BrandIndexFileError.damaged(path: file.path)) { try Self.load(file).get() }
    }

    @Test(arguments: [
        BrandIndexFileError.missing(path: "/p/i"), .cannotRead(path: "/p/i", code: EACCES),
        .cannotWrite(path: "/p/i", code: ENOSPC), .otherFormat(path: "/p/i"),
        .otherGeneration(path: "/p/i", found: 1, expected: 2), .otherProfile(path: "/p/i"), .damaged(path: "/p/i"),
    ])
    func `every error names the file and the next step`(error: BrandIndexFileError) {
        #expect(error.description.contains("/p/i"))
        #expect(error.description.contains("built from the cache") || error.description.contains("check space"))
    }
}

/// A path in a temporary folder, which is removed afterwards.
private final class TemporaryFile {
    let folder: String
    var path: String { folder + "/brands.index" }

    init() {
        var template = Array("/tmp/herald-index-XXXXXX".utf8CString)
        folder = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
    }

    deinit {
        unlink(path)
        rmdir(folder)
    }

    func write(_ bytes: [UInt8]) {
        guard let file = fopen(path, "w") else { return }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }

    func read() -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        return [UInt8](unsafeUninitializedCapacity: 1 << 20) { $1 = fread($0.baseAddress, 1, 1 << 20, file) }
    }
}
