// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import TestFixtures
import Testing

@Suite("Files that only their owner can read")
struct PrivateFileTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path + "/key" }

    private func mode() throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test(arguments: [(0o666, false, 0o600), (0o640, false, 0o600), (0o640, true, 0o640), (0o666, true, 0o640)])
    func `a written file is private, and an operator's file stays readable for its group`(
        before: Int, keepsOwner: Bool, after: Int
    ) throws {
        try folder.write("old and longer", to: "key")
        try FileManager.default.setAttributes([.posixPermissions: before], ofItemAtPath: path)
        try PrivateFile.write([1], to: path, keepsOwner: keepsOwner)
        #expect(FileManager.default.contents(atPath: path) == Data([1]))
        #expect(try mode() == after)
    }

    @Test(.enabled(if: getuid() == 0, "only root can give a file away"), arguments: [false, true])
    func `an operator's file keeps its owner`(keepsOwner: Bool) throws {
        try folder.write("old", to: "key")
        #expect(chown(path, 65_534, 65_534) == 0)
        try PrivateFile.write([1], to: path, keepsOwner: keepsOwner)
        var found = stat()
        #expect(stat(path, &found) == 0)
        #expect((found.st_uid, found.st_gid) == (keepsOwner ? (65_534, 65_534) : (0, 0)))
    }

    @Test func `a draft in the state folder is a crash's and goes, one of the operator stays`() throws {
        try folder.write("mine", to: "key.new")
        let error = #expect(throws: FileReplacementError.self) {
            try PrivateFile.write([1], to: path, keepsOwner: true)
        }
        #expect(error?.description == "cannot write \(path).new: File exists; remove or rename this file")
        #expect(FileManager.default.contents(atPath: path + ".new") == Data("mine".utf8))
        try PrivateFile.write([1], to: path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["key"])
    }

    @Test func `a link is replaced and its end stays as it is`() throws {
        let end = try folder.write("end", to: "end")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: end)
        #expect(throws: FileReplacementError.self) { _ = try PrivateFile.create(path) }
        try PrivateFile.write([1], to: path, keepsOwner: true)
        #expect(FileManager.default.contents(atPath: end) == Data("end".utf8))
        #expect(FileManager.default.contents(atPath: path) == Data([1]))
        #expect(try mode() == 0o600)
    }

    @Test func `a new file is private before its first byte`() throws {
        let file = try PrivateFile.create(path)
        defer { close(file) }
        #expect(try mode() == 0o600)
        let error = #expect(throws: FileReplacementError.self) { _ = try PrivateFile.create(path) }
        #expect(error?.code == EEXIST)
    }
}
