// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ChildPrograms
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryStore

/// What the operator sees of logs that were too long for a debug upload, and of short ones.
@Suite("Logs of debug uploads", .timeLimit(.minutes(8)), .bothEngines)
struct DebugLogsTests {
    /// Longer than a debug upload takes, than a chunk, and than the pieces it is read in.
    private static let long = [UInt8](repeating: UInt8(ascii: "x"), count: 599_990) + Array("the end\r\n".utf8)

    private static func show(
        _ folder: TemporaryFolder, _ device: String = "gw", _ options: [String] = []
    ) async throws -> ChildProgram {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return try await ChildProgram.run(
            tests.appendingPathComponent("herald-directory").path,
            ["uploads", "show", device] + options + Engine.options(folder.path))
    }

    /// The facts of the upload, and the logs below the empty line.
    private static func parts(_ output: String) throws -> (facts: String, rest: String) {
        let end = try #require(output.firstRange(of: "\n\n"))
        return (String(output[..<end.lowerBound]), String(output[end.upperBound...]))
    }

    @Test(arguments: ["text/plain", "application/json", "application/gzip"])
    func `the operator's API gives long logs byte by byte`(type: String) async throws {
        try await Operator.run { admin in
            let time = admin.directory.time.now
            let upload = try await admin.directory.database.receive(logs: Self.long, type: type, now: time)
            let response = try await admin.ask("accounts/main/debug/\(upload.id)/logs")
            #expect(response.status == 200)
            #expect(response.body == Self.long)
            #expect(response.headers["content-type"]?.hasPrefix(type) == true)
            #expect(response.headers["x-content-type-options"] == "nosniff")
            #expect(response.headers["cache-control"] == "no-store")
        }
    }

    @Test func `short logs are given in the same place`() async throws {
        try await Operator.run { admin in
            let (database, time) = (admin.directory.database, admin.directory.time.now)
            let short = try await database.receive(logs: "a\nlog", device: "one", now: time)
            let response = try await admin.ask("accounts/main/debug/\(short)/logs")
            #expect(response.status == 200 && response.text == "a\nlog")
            let empty = try await database.receive(device: "two", now: time)
            let nothing = try await admin.ask("accounts/main/debug/\(empty)/logs")
            #expect(nothing.status == 404 && nothing.isEnvelope("not_found") && nothing.text.contains("has no logs"))
        }
    }

    @Test func `logs are given to the operator alone, of the account that is asked for`() async throws {
        try await Operator.run { admin in
            let (database, time) = (admin.directory.database, admin.directory.time.now)
            let upload = try await database.receive(logs: Self.long, now: time)
            let path = "/debug/\(upload.id)/logs"
            let stranger = try await admin.directory.ask("/admin/v1/accounts/main" + path)
            #expect(stranger.status == 401)
            _ = try await admin.ask("accounts", method: "POST", #"{"name":"acme"}"#)
            for other in ["acme" + path, "main/debug/nothing/logs"] {
                let missing = try await admin.ask("accounts/" + other)
                #expect(missing.status == 404 && missing.isEnvelope("not_found"), "\(other)")
            }
            let method = try await admin.ask("accounts/main" + path, method: "DELETE")
            #expect(method.status == 405 && method.headers["allow"] == "GET")
        }
    }

    @Test(arguments: ["file", "row"]) func `a file that is gone is said plainly`(gone: String) async throws {
        try await Operator.run { admin in
            let (database, time) = (admin.directory.database, admin.directory.time.now)
            let upload = try await database.receive(logs: Self.long, now: time)
            if gone == "file" {
                try database.bytes.removeUpload(upload.file)
            } else {
                #expect(try await UploadExpiry(database: database).removeBatch(now: time + 30 * 86_400) == false)
            }
            let response = try await admin.ask("accounts/main/debug/\(upload.id)/logs")
            #expect(response.status == 404 && response.isEnvelope("not_found"))
            #expect(response.text.contains("not there any more: such files are kept for 30 days"))
        }
    }

    @Test func `the command writes long logs behind the upload`() async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        let upload = try await database.receive(logs: Self.long, now: 1)
        let shown = try await Self.show(folder)
        let (facts, rest) = try Self.parts(shown.output)
        #expect(shown.code == 0 && facts.hasPrefix("received  1970-01-01T00:00:01Z\ndevice    gw\nid        "))
        #expect(try await Self.show(folder, "gw", ["--json"]).output.contains("\"logsUploadID\":\"\(upload.file)\""))
        #expect(rest == String(repeating: "x", count: 599_990) + "the end\\u{d}\n")
    }

    @Test(arguments: [
        ("a\u{1b}[2J\u{9b}b", "a\\u{1b}[2J\\u{9b}b\n"), ("\u{202e}a\nb\n", "\\u{202e}a\nb\n"),
        ("a\tb\r", "a\\u{9}b\\u{d}\n"),
    ]) func `logs do nothing to a terminal but begin lines`(logs: String, expected: String) async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        _ = try await database.receive(logs: Array(logs.utf8), now: 1)
        let rest = try Self.parts(try await Self.show(folder).output).rest
        #expect(rest == expected)
    }

    /// The pieces it is read in have 65,536 bytes, and what is in front moves where the first one ends.
    @Test(arguments: ["é", "€", "🏦"], ["", ".", "..", "..."])
    func `no letter is torn between two pieces`(letter: String, front: String) async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        let logs = front + String(repeating: letter, count: 140_000 / letter.utf8.count)
        _ = try await database.receive(logs: Array(logs.utf8), now: 1)
        let rest = try Self.parts(try await Self.show(folder).output).rest
        #expect(rest == logs + "\n")
    }

    @Test func `bytes that are no text, cut short at the end, are marked as such`() async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        _ = try await database.receive(logs: [0x61, 0xFF, 0x62, 0xF0, 0x9F], now: 1)
        let rest = try Self.parts(try await Self.show(folder).output).rest
        #expect(rest == "a\u{fffd}b\u{fffd}\n")
    }

    @Test(.sqliteAlone) func `of an archive the command says where it lies`() async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        let upload = try await database.receive(logs: [0x1F, 0x8B, 0x1B], type: "application/gzip", now: 1)
        let path = folder.path + "/uploads/" + upload.file
        let rest = try Self.parts(try await Self.show(folder).output).rest
        #expect(rest == "the logs are application/gzip: \(path)\n")
    }

    @Test func `the command says that a file is gone, and shows what there is`() async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        let upload = try await database.receive(logs: Self.long, now: 1)
        try database.bytes.removeUpload(upload.file)
        let shown = try await Self.show(folder)
        #expect(shown.code == 1 && shown.output.contains(upload.id))
        #expect(shown.errors.contains("not there any more: such files are kept for 30 days"))
    }

    @Test func `the newest upload of the device is shown, and no other`() async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path)
        for (device, logs, time) in [("gw", "first", 1), ("gw", "second", 100), ("desk", "third", 200)] {
            _ = try await database.receive(logs: logs, device: device, now: Int64(time))
        }
        let shown = try await Self.show(folder, "gw", ["--json"]).output
        #expect(shown.contains("\"logs\":\"second\"") && shown.split(separator: "\n").count == 1)
        #expect(try Self.parts(try await Self.show(folder).output).rest == "second\n")
        let nobody = try await Self.show(folder, "nobody")
        #expect(nobody.code == 1 && nobody.errors.contains("there is no upload of that device"))
    }
}
