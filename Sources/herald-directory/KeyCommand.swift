// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrandingAPI
import Directory
import Foundation

/// `herald-directory key`: who may use the directory.
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Make, list and revoke API keys.",
        discussion: """
            Example:
              herald-directory key create gateway --write /etc/herald/api-key
            """,
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a key; it is shown this once.",
            discussion: """
                With --signed, three lines: the key, the id for X-Api-Id, and the secret that requests are signed with. The
                secret stays readable in the database, because signatures cannot be checked with a hash of it.

                Example:
                  herald-directory key create gateway --write /etc/herald/api-key
                """)

        @Argument(help: "A name to know it by.")
        var name: String

        @OptionGroup var options: StateOptions

        @Option(
            help: ArgumentHelp(
                "Write it to a file that only this user can read, instead of showing it.", valueName: "file"))
        var write: String?

        @Flag(help: "Have its requests signed too; an id and a secret come with it.")
        var signed = false

        func run() throws {
            let database = try options.open(creates: true)
            let accounts = AccountStore(database)
            let key: String
            do {
                key = try accounts.createKey(name: name, now: secondsNow())
            } catch let error as AccountStoreError {
                throw CommandFailure(TerminalText.visible("\(error)"))
            }
            var text = key + "\n"
            if signed {
                let signing = try SigningSecrets(database).create(forKey: key)
                text = "key \(key)\nid \(signing.id)\nsecret \(signing.secret)\n"
            }
            guard let write else { return Output.write(text) }
            do {
                try PrivateFile.write(text, to: write)
            } catch {
                // Nobody has seen the key, so nobody may use it.
                _ = try accounts.revokeKey(name: name, now: secondsNow())
                throw error
            }
            Output.write("key \"\(TerminalText.visible(name))\" written to \(write)\n")
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List keys by name; the keys themselves are not kept.",
            discussion: """
                Example:
                  herald-directory key list
                """)

        @OptionGroup var options: StateOptions

        func run() throws {
            let keys = try AccountStore(try options.open()).keys()
            guard !keys.isEmpty else { return Output.write("no keys\n") }
            let rows = keys.map { key in
                [
                    key.name, Timestamp.string(from: key.created),
                    key.revoked.map { "revoked " + Timestamp.string(from: $0) } ?? "good",
                ]
            }
            Output.write(table: ["NAME", "CREATED", "STATE"], rows)
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take a key out of use at once.",
            discussion: """
                Example:
                  herald-directory key revoke gateway
                """)

        @Argument(help: "The key's name.")
        var name: String

        @OptionGroup var options: StateOptions

        func run() throws {
            guard try AccountStore(try options.open()).revokeKey(name: name, now: secondsNow()) else {
                throw CommandFailure(
                    "there is no good key named \"\(TerminalText.visible(name))\"; see herald-directory key list")
            }
            Output.write("key \"\(TerminalText.visible(name))\" revoked\n")
        }
    }
}
