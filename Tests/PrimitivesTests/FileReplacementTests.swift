// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import Testing

@Suite("Atomic file replacement")
struct FileReplacementTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/herald-replace-\(UUID().uuidString)"
    private var path: String { folder + "/secret" }

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func mode() throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `the file has the new content and the given permissions`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileReplacement.write([1, 2], to: path, mode: 0o600)
        try FileReplacement.write([3], to: path, mode: 0o600)
        #expect(FileManager.default.contents(atPath: path) == Data([3]))
        #expect(try mode() == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["secret"])
    }

    @Test func `a draft left by a crash does not pass on its permissions`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let draft = path + ".new"
        try Data(repeating: 9, count: 100).write(to: URL(fileURLWithPath: draft))
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: draft)
        try FileReplacement.write([4], to: path, mode: 0o600)
        #expect(FileManager.default.contents(atPath: path) == Data([4]))
        #expect(try mode() == 0o600)
    }

    @Test func `without a commit the old file stays and the draft is removed`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileReplacement.write([5], to: path, mode: 0o600)
        try FileReplacement(of: path).write([6, 6])
        #expect(FileManager.default.contents(atPath: path) == Data([5]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["secret"])
    }

    @Test func `the error names a missing folder and the reason`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let error = #expect(throws: FileReplacementError.self) {
            try FileReplacement.write([7], to: folder + "/none/secret", mode: 0o600)
        }
        #expect(error?.path == folder + "/none/secret.new")
        #expect(error?.code == ENOENT)
    }

    @Test func `a file that must stay stays, and the draft is removed`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func create(_ bytes: [UInt8]) throws {
            let file = try FileReplacement(of: path, mode: 0o600)
            try file.share(withGroup: getegid())
            try file.write(bytes)
            try file.commit(replaces: false)
        }
        try create([8])
        #expect(try mode() == 0o640)
        let error = #expect(throws: FileReplacementError.self) { try create([9]) }
        #expect(error?.code == EEXIST)
        #expect(FileManager.default.contents(atPath: path) == Data([8]))
        // A link without a target is a file that must stay, too.
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder + "/none")
        #expect(throws: FileReplacementError.self) { try create([9]) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["secret"])
    }
}
