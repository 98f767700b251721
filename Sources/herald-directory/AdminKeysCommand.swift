// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore
import Host
import Primitives

/// `herald-directory admin-keys`: the keys of the operator's HTTP API.
struct AdminKeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin-keys", abstract: "List, add and remove keys of the operator's HTTP API.",
        discussion: """
            Without such a key /admin/v1 refuses all requests.

            Example:
              herald-directory admin-keys add portal --write /etc/herald/admin-key
            """,
        subcommands: [List.self, Add.self, Remove.self], defaultSubcommand: List.self)

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a key and show it once.",
            discussion: """
                Example:
                  herald-directory admin-keys add portal --write /etc/herald/admin-key
                """)

        @Argument(help: "A name for the key.")
        var name: String

        @OptionGroup var options: StateOptions

        @OptionGroup var delivery: KeyDelivery

        func run() throws {
            let keys = AdminKeys(try options.open(creates: true))
            try delivery.deliver(name) {
                try keys.create(name: name, now: secondsNow())
            } undo: { _ in
                _ = try keys.revoke(name, now: secondsNow())
            }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List keys by name; the keys themselves are not stored.",
            discussion: """
                Example:
                  herald-directory admin-keys list
                """)

        @OptionGroup var listing: KeyListing

        @OptionGroup var options: StateOptions

        func run() throws { try listing.write(AdminKeys(try options.open()).all()) }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a key; it ends at once.",
            discussion: """
                Example:
                  herald-directory admin-keys remove portal
                """)

        @Argument(help: "The key's name or identifier.")
        var name: String

        @OptionGroup var options: StateOptions

        func run() throws {
            guard try AdminKeys(try options.open()).revoke(name, now: secondsNow()) else {
                throw CommandFailure(
                    "there is no valid key named \"\(TerminalText.visible(name))\"; see herald-directory admin-keys list"
                )
            }
            Output.write("key \"\(TerminalText.visible(name))\" is removed\n")
        }
    }
}
