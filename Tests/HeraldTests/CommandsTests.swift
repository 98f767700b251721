// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import herald

/// The rules of `docs/commands.md` for all commands of the program.
@Suite("Verbs and forms of herald's commands")
struct CommandsTests {
    /// Commands that print no table and no state: a server, questions with their text, and text that is a file.
    private static let plain = ["herald run", "herald setup"]
    private static let verbs = [
        "list", "show", "import", "remove", "enable", "disable", "check", "fetch", "retry", "regimes",
    ]

    private struct Command {
        let path: String
        let type: any ParsableCommand.Type
        let isDefault: Bool
        /// The help of the command alone.
        var help: String { Herald.helpMessage(for: type, columns: 200) }
        var below: [Command] {
            type.configuration.subcommands.map {
                Command(
                    path: "\(path) \($0._commandName)", type: $0,
                    isDefault: type.configuration.defaultSubcommand == $0)
            }
        }
        /// The command with all commands below it.
        var all: [Command] { [self] + below.flatMap(\.all) }
    }

    private static let all = Command(path: "herald", type: Herald.self, isDefault: false).all

    @Test func `every command that prints a table or a state has --json`() {
        for command in Self.all where command.below.isEmpty && !Self.plain.contains(command.path) {
            #expect(command.help.contains("--json"), "\(command.path)")
        }
        for path in Self.plain { #expect(Self.all.contains { $0.path == path }, "\(path)") }
    }

    @Test func `every list has --wide, and is that of its noun alone`() {
        let lists = Self.all.filter { $0.path.hasSuffix(" list") }
        #expect(lists.count >= 9)
        for list in lists {
            #expect(list.help.contains("--wide") && list.isDefault, "\(list.path)")
        }
        for noun in Self.all.dropFirst() where !noun.below.isEmpty {
            #expect(noun.below.first?.path == noun.path + " list", "\(noun.path)")
        }
    }

    @Test func `a noun has the verbs of the table alone`() {
        for noun in Self.all.dropFirst() {
            for command in noun.below {
                let verb = command.path.split(separator: " ").last.map(String.init) ?? ""
                #expect(Self.verbs.contains(verb), "\(command.path)")
            }
        }
    }

    @Test func `no option is a verb`() {
        for command in Self.all {
            for verb in Self.verbs where verb != "list" && verb != "regimes" {
                #expect(!command.help.contains("--\(verb) "), "\(command.path) --\(verb)")
            }
        }
    }
}
