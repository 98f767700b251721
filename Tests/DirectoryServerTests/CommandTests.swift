// SPDX-License-Identifier: Apache-2.0

import Branding
import ChildPrograms
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

/// The built program, run as an operator runs it; it lies beside the tests, which depend on it.
@Suite("Commands of herald-directory", .timeLimit(.minutes(8)))
struct CommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = TemporaryFolder() }

    private static var path: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("herald-directory").path
    }

    private static func program(_ arguments: [String]) async throws -> ChildProgram {
        try await ChildProgram.run(path, arguments)
    }

    private func run(_ arguments: String...) async throws -> ChildProgram {
        try await Self.program(arguments + ["--state", folder.path + "/state"])
    }

    @Test func `an account is opened, given a key that is shown once, and closed`() async throws {
        #expect(try await run("accounts", "add", "acme", "--cap", "10").code == 0)
        let key = try await run("keys", "add", "gateway", "--account", "acme").output
        #expect(key.hasPrefix("hd_"))
        let rotated = try await run("keys", "rotate", "gateway", "--account", "acme", "--grace-hours", "1").output
        #expect(rotated.hasPrefix("hd_") && rotated != key)
        let list = try await run("keys", "list", "--account", "acme").output
        #expect(list.contains("good until") && !list.contains(key.dropLast().suffix(60)))
        #expect(
            try await run("accounts", "set", "acme", "--mode", "testing").output.contains("\nmode      testing\n"))
        #expect(try await run("accounts", "remove", "acme").code == 0)
        let refused = try await run("keys", "add", "other", "--account", "acme")
        #expect(refused.code != 0 && refused.errors.contains("the account is closed"))
        let unknown = try await run("keys", "list", "--account", "nobody")
        #expect(unknown.code != 0 && unknown.errors.contains("there is no account \"nobody\""))
    }

    @Test func `public cards are switched on and off`() async throws {
        #expect(try await run("accounts", "add", "acme").code == 0)
        #expect(try await run("accounts", "show").output.contains("\ncard      off\n"))
        #expect(try await run("accounts", "set", "--card", "on").output.contains("\ncard      on\n"))
        let kept = try await run("accounts", "set", "--cap", "5", "--json")
        #expect(kept.output.contains(#""card_enabled":true"#), "\(kept)")
        #expect(try await run("accounts", "set", "--card", "maybe").code != 0)
        #expect(try await run("accounts", "set", "--card", "off").output.contains("\ncard      off\n"))
    }

    @Test func `a status is one of a list, and a mistyped one changes nothing`() async throws {
        #expect(try await run("accounts", "add", "acme").code == 0)
        let refused = try await run("accounts", "set", "acme", "--status", "actve")
        #expect(
            refused.code != 0 && refused.errors.contains("there is no status \"actve\"; choose one of active, trial"))
        #expect(try await run("accounts", "list").output.contains("actve") == false)
        let done = try await run("accounts", "set", "acme", "--status", "past_due", "--json")
        #expect(done.code == 0 && done.output.contains(#""status":"past_due""#))
    }

    @Test func `a change prints a sentence, and one JSON object by its option`() async throws {
        let created = try await run("brands", "add", "Acme Bank", "--id", "acme")
        #expect(created.output == "brand acme added: Acme Bank; 0 active numbers\n", "\(created)")
        let set = try await run("numbers", "set", "+61491570156", "--brand", "acme")
        #expect(set.output == "+61491570156 belongs to acme\n")
        let changed = try await run("brands", "set", "acme", "--name", "Acme")
        #expect(changed.output == "brand acme changed: Acme; 1 active numbers\n", "\(changed)")
        let json = try await run("brands", "set", "acme", "--reason", "Alert", "--json").output
        #expect(json.hasPrefix("{\"brand_id\":\"acme\"") && json.hasSuffix("}\n"), "\(json)")
        let number = try await run("numbers", "set", "+61491570156", "--brand", "acme", "--json").output
        #expect(number == "{\"brand_id\":\"acme\",\"number_e164\":\"+61491570156\"}\n")
    }

    @Test func `a reload names the database among the keys that wait for a restart`() async throws {
        let file = folder.path + "/herald-directory.yaml"
        try "listen: 127.0.0.1:\(ReservedPort.next())\nstate: state\npublic_url: http://directory.example\n".write(
            toFile: file, atomically: true, encoding: .utf8)
        let server = try await ChildProgram.run(
            "bash",
            [
                "-c",
                """
                "$0" run --config "$1" >"$1.log" 2>&1 & server=$!
                wait_for() { until grep -q "$1" "$2"; do kill -0 $server || exit 1; sleep 0.05; done; }
                wait_for listening "$1.log"
                echo 'database: {url: "postgres:///other"}' >>"$1"
                kill -HUP $server
                wait_for "configuration .*reloaded" "$1.log"
                kill -TERM $server
                wait $server
                cat "$1.log"
                """, Self.path, file,
            ])
        #expect(server.output.contains("some changes need a restart keys=database "), "\(server)")
    }

    @Test func `a successor goes into the gateway's file alone, which keeps its owner`() async throws {
        let file = folder.path + "/gateway-key"
        let shown = try await run("keys", "add", "gateway", "--signed", "--write", file).output
        #expect(shown.contains("\nid ") && shown.contains("\nsecret "))
        let first = try String(contentsOfFile: file, encoding: .utf8)
        // Another user can be given it by root alone, as in a build's container.
        let isRoot = geteuid() == 0
        if isRoot { #expect(chown(file, 65534, 65534) == 0) }
        let rotated = try await run("keys", "rotate", "gateway", "--write", file)
        #expect(rotated.code == 0 && !rotated.output.contains("secret"))
        let second = try String(contentsOfFile: file, encoding: .utf8)
        #expect(second != first)
        for text in [first, second] {
            #expect(text.hasPrefix("hd_") && text.split(separator: "\n").count == 1 && text.hasSuffix("\n"))
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        if isRoot { #expect(attributes[.ownerAccountID] as? Int == 65534) }
        for (before, after) in [(0o640, 0o640), (0o644, 0o640)] as [(mode_t, Int)] {
            #expect(chmod(file, before) == 0)
            #expect(try await run("keys", "rotate", "gateway", "--write", file).code == 0)
            #expect(
                try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == after)
        }
    }

    @Test func `a key goes into a file that only this user can read`() async throws {
        #expect(
            try await run("admin-keys", "add", "portal", "--write", folder.path + "/key").output.contains(
                "written to"))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/key")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try await run("admin-keys", "list").output.contains("portal"))
        let failed = try await run("admin-keys", "add", "second", "--write", folder.path + "/no/key")
        #expect(failed.code != 0)
        let second = try await run("admin-keys", "list").output.split(separator: "\n").filter {
            $0.hasPrefix("second ")
        }
        #expect(second.allSatisfy { $0.contains(" removed ") }, "\(second)")
    }

    @Test func `brands come in, change, go out and are backed up`() async throws {
        try folder.write(Array("number,brand_name\n+61491570156,Acme\nx,Acme\n".utf8), to: "bad.csv")
        let bad = try await run("import", folder.path + "/bad.csv")
        #expect(bad.code != 0 && bad.errors.contains("line 3: \"x\" is no number without its country"))
        let some = try await run("import", folder.path + "/bad.csv", "--skip-bad").output
        #expect(some == "1 imported, 0 unchanged, 1 rejected\n")
        #expect(
            try await run("brands", "set", "acme", "--name", "Acme Bank", "--json").output.contains(#""numbers":1"#))
        #expect(try await run("export").output.contains("+61491570156,Acme Bank,,,acme"))
        #expect(try await run("numbers", "remove", "+61491570156").code == 0)
        #expect(try await run("numbers", "list").output.contains("inactive"))
        #expect(try await run("backup", folder.path + "/copy.sqlite").code == 0)
        #expect(try await run("backup", folder.path + "/copy.sqlite").code != 0)
        #expect(try await run("brands", "set", "acme", "--name", "Other Bank").code == 0)
        let check = try await run("restore", "--dry-run", folder.path + "/copy.sqlite")
        #expect(check.code == 0 && check.output.contains("/copy.sqlite can be restored: 1 accounts, "), "\(check)")
        let restored = try await run("restore", folder.path + "/copy.sqlite")
        #expect(restored.code == 0 && restored.output.contains("the replaced database is in "), "\(restored)")
        #expect(try await run("brands", "list").output.contains("Acme Bank"))
        let january = try await run("report", "2026-01").output
        #expect(
            january.hasPrefix(
                """
                main 2026-01: 0 counted, 0 not counted, 0 calls returned
                0 syncs delivered, 0 acknowledged; lookups: 0 matched, 0 not matched
                Days and months are in UTC, as on the bill.
                """), "\(january)")
        // The present month, which may end while the command runs.
        let before = Date()
        let present = try await run("report").output
        let months = [before, Date()].map { "main \($0.formatted(.iso8601).prefix(7)): 0 counted" }
        #expect(months.contains { present.hasPrefix($0) }, "\(present)")
        try folder.write(PictureSample.jpeg, to: "a.jpg")
        let size = PictureMetadata.removed(from: PictureSample.jpeg).count
        let added = try await run("logos", "add", folder.path + "/a.jpg")
        #expect(added.output == "a.jpg added: image/jpeg, \(size) bytes\n")
        try folder.write(PictureSample.webp, to: "b.webp")
        #expect(try await run("logos", "add", folder.path + "/b.webp").output.hasPrefix("b.png added: image/png, "))
        try folder.write(Array("<svg/>".utf8), to: "c.svg")
        let refused = try await run("logos", "add", folder.path + "/c.svg")
        #expect(refused.code == 1 && refused.errors.contains("an SVG is not taken"))
        let list = try await run("logos", "list").output
        #expect(list.contains("a.jpg") && list.contains("b.png") && !list.contains("thumb") && !list.contains("c.svg"))
    }

    @Test func `numbers and texts that begin with a dash are taken as they are`() async throws {
        #expect(try await run("accounts", "add", "acme", "--cap", "9", "--included-imprints", "3").code == 0)
        let changed = try await run("accounts", "set", "acme", "--cap", "-1")
        #expect(changed.code == 0 && changed.output.contains("\ncap       none\n"), "\(changed)")
        let refused = try await run("accounts", "set", "--included-imprints", "-1")
        #expect(refused.code == 1 && refused.errors.contains("the included imprints must be 0 or more"))
        #expect(
            try await run("brands", "add", "Acme", "--reason", "-10 % today", "--json").output.contains("-10 % today")
        )
        for arguments in [["brands", "list", "--limit", "-1"], ["events", "--limit", "-1"]] {
            let limit = try await Self.program(arguments + ["--state", folder.path + "/state"])
            #expect(limit.code != 0 && limit.errors.contains("--limit must be 1 or more"), "\(limit.errors)")
        }
    }

    @Test(arguments: [["numbers", "remove"], ["numbers", "list", "--after"], ["events", "--number"]])
    func `a number is taken as people write it, and what is none is shown`(arguments: [String]) async throws {
        _ = try await run("accounts", "add", "acme")
        let state = ["--state", folder.path + "/state"]
        let taken = try await Self.program(arguments + ["+61 491 570-156"] + state)
        #expect(taken.code == 0 || taken.errors.contains("none of these numbers is active"), "\(taken.errors)")
        let refused = try await Self.program(arguments + ["0491\u{1B}[2J"] + state)
        #expect(refused.code != 0)
        #expect(
            refused.errors.contains(#""0491\u{1b}[2J" is no number; write it with + and the country code"#),
            "\(refused.errors)")
    }

    @Test func `an import says what is wrong on standard error, and fails where nothing can be used`() async throws {
        try folder.write(Array("number;brand_name;logo_url\n61491;A\u{1B}[2J;a.png\n".utf8), to: "bad.csv")
        let none = try await run("import", folder.path + "/bad.csv", "--skip-bad")
        #expect(none.code == 1 && none.output.isEmpty)
        #expect(none.errors.contains("all lines of the file are invalid, so nothing was imported"))
        try folder.write(Array("number\tbrand_name\tlogo_url\n+61491570156\tA\tno.png\n".utf8), to: "good.csv")
        let good = try await run("import", folder.path + "/good.csv")
        #expect(good.output == "1 imported, 0 unchanged, 0 rejected\n")
        #expect(good.errors.contains("/good.csv: warning: line 2: logo \"no.png\" is not among the uploaded logos"))
        #expect(try await run("import", folder.path).errors == "Error: \(folder.path) is a folder; name a file\n")
        let warned = try await run("brands", "set", "a", "--logo", "other.png")
        #expect(warned.code == 0 && warned.errors.hasPrefix("warning: logo \"other.png\""))
    }

    @Test(arguments: [
        ("/dev/null", "File exists"), ("/proc/herald", "No such file or directory"),
        ("/dev/null/state", "Not a directory"),
    ]) func `a state folder that cannot be made is an error with a reason`(path: String, reason: String) async throws {
        let refused = try await Self.program(["run", "--state", path])
        #expect(refused.code == 1)
        #expect(
            refused.errors == """
                Error: \(path)/directory.sqlite cannot be opened: \(reason); \
                is the state folder right, writable, and not full?

                """)
    }

    @Test func `a database that is none is an error without SQL`() async throws {
        try FileManager.default.createDirectory(atPath: folder.path + "/state", withIntermediateDirectories: true)
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: folder.path + "/state/directory.sqlite"))
        let refused = try await run("keys", "list")
        #expect(refused.code == 1 && refused.errors.contains("file is not a database;"))
        #expect(!refused.errors.contains("PRAGMA"))
    }

    @Test func `a restore refuses what is no backup, and a directory on a server, each with the remedy`() async throws {
        try folder.write("no database", to: "notes.txt")
        let file = try await run("restore", folder.path + "/notes.txt")
        #expect(file.code == 1 && file.errors.contains("notes.txt is no SQLite database"), "\(file)")
        let url = "postgres://herald@db.example.com/herald"
        let server = try await Self.program(["restore", "--database", url, folder.path + "/notes.txt"])
        #expect(server.code == 1 && server.errors.contains("on PostgreSQL at db.example.com/herald"), "\(server)")
        #expect(server.errors.contains("pg_restore") && server.errors.contains("herald-directory accounts renew-feed"))
    }

    @Test func `a folder of logos that is not there does not start a server without logos`() async throws {
        let refused = try await run("run", "--listen", "192.0.2.1:8088", "--logos", "/nowhere")
        #expect(refused.code == 1)
        #expect(refused.errors == "Error: --logos: /nowhere cannot be read: No such file or directory\n")
    }

    @Test(arguments: [
        "run", "import", "export", "brands", "numbers", "logos", "events", "report", "accounts", "keys", "admin-keys",
        "devices", "uploads", "registrations", "backup", "restore", "copy", "check-config",
    ]) func `the help of every command has an example`(command: String) async throws {
        let help = try await Self.program([command, "--help"])
        #expect(help.code == 0 && help.output.contains("Example:\n  herald-directory \(command)"))
    }
}
