// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryFixtures
import DirectoryStore
import Foundation
import Host
import TestFixtures
import Testing

@testable import herald_directory

/// The database that a command works on, by its options and the configuration of the packages.
@Suite("The database of a command", .timeLimit(.minutes(8)))
struct StateOptionsTests {
    private let folder = TemporaryFolder()

    /// Writes the configuration of the packages, then opens the database of a command with these options.
    private func place(_ file: String?, _ options: [String]) throws -> String {
        let path = folder.path + "/packaged.yaml"
        try file?.write(toFile: path, atomically: true, encoding: .utf8)
        return try StateOptions.$defaultFile.withValue(path) {
            try StateOptions.parse(options).open(creates: true).place
        }
    }

    @Test func `the file of the packages names the folder`() throws {
        #expect(try place("state: moved\n", []) == folder.path + "/moved/directory.sqlite")
        #expect(try StateOptions.$defaultFile.withValue("/nowhere/x.yaml") { try StateOptions.parse([]).file } == nil)
    }

    @Test func `the login page shows the command for the directory that runs`() throws {
        func command(_ options: [String]) throws -> String {
            try StateOptions.$defaultFile.withValue("/nowhere/x.yaml") { try StateOptions.parse(options).keyCommand }
        }
        #expect(try command([]) == "herald-directory admin-keys add NAME")
        #expect(try command(["--state", "/srv/a b"]) == "herald-directory admin-keys add NAME --state '/srv/a b'")
        #expect(
            try command(["--config", "/etc/it's.yaml"])
                == #"herald-directory admin-keys add NAME --config '/etc/it'\''s.yaml'"#)
        let secret = try command(["--database", "postgresql://herald:secret@db/herald"])
        #expect(secret == "herald-directory admin-keys add NAME --database URL")
    }

    @Test(arguments: [("a-b_c.d/e:f=g@h", "a-b_c.d/e:f=g@h"), ("", "''"), ("$(x)", "'$(x)'"), ("a\nb", "'a\nb'")])
    func `a word of a command is quoted for a shell`(word: String, quoted: String) {
        #expect(StateOptions.quoted(word) == quoted)
    }

    @Test func `an option names another directory`() throws {
        let other = folder.path + "/other"
        #expect(try place("state: moved\n", ["--state", other]) == other + "/directory.sqlite")
        try "state: elsewhere\n".write(toFile: folder.path + "/mine.yaml", atomically: true, encoding: .utf8)
        #expect(
            try place("state: moved\n", ["--config", folder.path + "/mine.yaml"])
                == folder.path + "/elsewhere/directory.sqlite")
    }

    @Test func `a mistake in the file is an error and opens no other database`() {
        #expect(throws: CommandFailure.self) { try place("stat: moved\n", []) }
        #expect(throws: CommandFailure.self) { try StateOptions.parse(["--config", "/nowhere/x.yaml"]).open() }
    }

    @Test(.onServer) func `the file names a PostgreSQL database`() throws {
        let url = try Engine.newURL()
        let place = try place("state: moved\npublic_url: https://d.example\ndatabase: {url: \"\(url)\"}\n", [])
        #expect(!place.hasSuffix("directory.sqlite"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/moved/directory.sqlite"))
    }

    @Test(.onServer, arguments: [false, true])
    func `a command on a server makes the state folder only where it may make a database`(creates: Bool) throws {
        let state = folder.path + "/state"
        try "state: state\npublic_url: https://d.example\ndatabase: {url: \"\(try Engine.newURL())\"}\n".write(
            toFile: folder.path + "/mine.yaml", atomically: true, encoding: .utf8)
        _ = try StateOptions.parse(["--config", folder.path + "/mine.yaml"]).open(creates: creates)
        #expect(FileManager.default.fileExists(atPath: state) == creates)
    }
}
