// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChildPrograms
import Foundation
import Primitives
import TestFixtures
import Testing

@testable import herald_directory

/// The rules of `docs/commands.md` for all commands of the program.
@Suite("Verbs and forms of herald-directory's commands", .timeLimit(.minutes(8)))
struct CommandFormTests {
    /// Commands that print neither a table nor a state: a server, a file, a key, or one sentence.
    private static let plain = [
        "run", "import", "export", "backup", "accounts remove", "accounts renew-feed", "keys add", "keys rotate",
        "keys remove", "admin-keys add", "admin-keys remove", "logos remove", "uploads request", "uploads withdraw",
        "registrations remove", "push remove",
    ]
    private static let verbs = [
        "list", "show", "add", "set", "remove", "rotate", "renew-feed", "request", "withdraw", "confirm",
        "invite", "test",
    ]

    private struct Command {
        let words: [String]
        let type: any ParsableCommand.Type
        let isDefault: Bool
        var path: String { words.joined(separator: " ") }
        var help: String { HeraldDirectory.helpMessage(for: type, columns: 200) }
        var below: [Command] {
            type.configuration.subcommands.map {
                Command(
                    words: words + [$0._commandName], type: $0, isDefault: type.configuration.defaultSubcommand == $0)
            }
        }
        var all: [Command] { [self] + below.flatMap(\.all) }
    }

    private static let all = Command(words: [], type: HeraldDirectory.self, isDefault: false).all

    @Test func `every command that prints a table or a state has --json`() {
        for command in Self.all where command.below.isEmpty && !Self.plain.contains(command.path) {
            #expect(command.help.contains("--json"), "\(command.path)")
        }
        for path in Self.plain { #expect(Self.all.contains { $0.path == path }, "\(path)") }
    }

    @Test func `every list has --wide, and is that of its noun alone`() {
        let lists = Self.all.filter { $0.words.last == "list" }
        #expect(lists.count >= 9)
        for list in lists { #expect(list.help.contains("--wide") && list.isDefault, "\(list.path)") }
    }

    @Test func `a noun has the verbs of the table alone`() {
        for command in Self.all where command.words.count == 2 {
            #expect(Self.verbs.contains(command.words[1]), "\(command.path)")
        }
    }

    @Test func `a verb of an earlier version has the present one`() async throws {
        for (line, remedy) in [
            ("account create acme", "herald-directory has no command \"account\"; did you mean \"accounts\"?"),
            ("keys revoke gateway", "herald-directory keys has no command \"revoke\"; did you mean \"remove\"?"),
            ("brands change acme", "herald-directory brands has no command \"change\"; did you mean \"set\"?"),
            (
                "numbers deactivate +1",
                "herald-directory numbers has no command \"deactivate\"; did you mean \"remove\"?"
            ),
            ("debug devices", "herald-directory has no command \"debug\"; did you mean \"uploads\"?"),
        ] {
            let ended = try await Self.run(line.split(separator: " ").map(String.init))
            #expect(ended.code == 64 && ended.errors.hasPrefix("Error: \(remedy)"), "\(ended.errors)")
        }
    }

    @Test func `lists with long values have 80 columns and no control characters`() async throws {
        let folder = TemporaryFolder()
        let state = ["--state", folder.path + "/state"]
        let name = String(repeating: "東京 Very Long ", count: 6).dropLast()
        let logo = "https://logos.example/\(String(repeating: "a", count: 150)).png"
        try folder.write(
            Array("number,brand_name,logo_url,brand_id\n+61491570156,\(name),\(logo),long\n".utf8), to: "brands.csv")
        let imported = try await Self.run(["import", folder.path + "/brands.csv"] + state)
        #expect(imported.code == 0, "\(imported.errors)")
        for arguments in [["accounts", "add", String(repeating: "a", count: 64)], ["keys", "add", "gateway"]] {
            #expect(try await Self.run(arguments + state).code == 0, "\(arguments)")
        }
        for list in Self.all where list.words.last == "list" {
            for form in [[], ["--wide"], ["--json"]] {
                let ended = try await Self.run(list.words + form + state)
                #expect(ended.code == 0, "\(list.path): \(ended.errors)")
                #expect(ended.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 32 }, "\(list.path)")
                guard form.isEmpty else { continue }
                for line in ended.output.split(separator: "\n") {
                    #expect(TerminalText.width(String(line)) <= 80, "\(list.path): \(line)")
                }
            }
        }
        #expect(try await Self.run(["brands", "list", "--wide"] + state).output.contains(name))
    }

    private static func run(_ arguments: [String]) async throws -> ChildProgram {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return try await ChildProgram.run(tests.appendingPathComponent("herald-directory").path, arguments)
    }
}
