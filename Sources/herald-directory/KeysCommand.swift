// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore
import Host
import Primitives

/// `herald-directory keys`: the API keys of an account.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "List, add, rotate and remove API keys.",
        discussion: """
            Example:
              herald-directory keys add gateway --write /etc/herald/api-key
            """,
        subcommands: [List.self, Add.self, Rotate.self, Remove.self], defaultSubcommand: List.self)

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a key and show it once.",
            discussion: """
                With --signed the command shows three lines: the key, the id for X-Api-Id, and the secret that signs
                requests. With --write the key goes into the file, and the command shows the other two. The secret is
                readable in the database, because signatures cannot be checked with a hash.

                Example:
                  herald-directory keys add gateway --write /etc/herald/api-key
                """)

        @Argument(help: "A name for the key.")
        var name: String

        @Option(
            help: ArgumentHelp(
                "gateway; phone, whose requests never get the limits of a gateway; or registrar, for CAMARA alone.",
                valueName: "kind"))
        var kind = KeyKind.gateway

        @OptionGroup var options: AccountOptions

        @OptionGroup var delivery: KeyDelivery

        @Flag(help: "Require signed requests; also creates an id and a secret.")
        var signed = false

        func run() throws {
            let (database, id) = try options.open(creates: true)
            let account = AccountStore(database, account: id)
            try delivery.deliver(name) {
                try account.createKey(name: name, kind: kind, now: secondsNow())
            } signing: {
                signed ? try SigningSecrets(database).create(forKey: $0) : nil
            } undo: { _ in
                _ = try account.revokeKey(name: name, now: secondsNow())
            }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List keys by name; the keys themselves are not stored.",
            discussion: """
                Example:
                  herald-directory keys list
                """)

        @OptionGroup var listing: KeyListing

        @OptionGroup var options: AccountOptions

        func run() throws { try listing.write(options.openAccount().keys()) }
    }

    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a successor of a key; the old key stays valid for a while.",
            discussion: """
                For a key with signed requests, the command shows three lines as add --signed does: the new key, and
                the id and secret of the old one, which stay the same. With --write only the key goes into the file.

                Example:
                  herald-directory keys rotate gateway --grace-hours 48 --write /etc/herald/api-key
                """)

        @Argument(help: "The key's name or identifier.")
        var name: String

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("Hours for which the old key stays valid; 0 ends it at once.", valueName: "hours"))
        var graceHours = 24

        @OptionGroup var options: AccountOptions

        @OptionGroup var delivery: KeyDelivery

        func validate() throws {
            guard (0...8760).contains(graceHours) else { throw ValidationError("--grace-hours takes 0 to 8760") }
        }

        func run() throws {
            let (database, id) = try options.open(creates: false)
            let account = AccountStore(database, account: id)
            try delivery.deliver(
                name, make: { try account.rotateKey(name, grace: Int64(graceHours) * 3600, now: secondsNow()).key },
                signing: { try SigningSecrets(database).find(forKey: $0) }, showsSigning: false,
                undo: { try account.undoRotation(to: $0) })
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a key; it ends at once.",
            discussion: """
                Example:
                  herald-directory keys remove gateway
                """)

        @Argument(help: "The key's name, which also removes a rotated predecessor, or its identifier.")
        var name: String

        @OptionGroup var options: AccountOptions

        func run() throws {
            guard try options.openAccount().revokeKey(name: name, now: secondsNow()) else {
                throw CommandFailure(
                    "there is no valid key named \"\(TerminalText.visible(name))\"; see herald-directory keys list")
            }
            Output.write("key \"\(TerminalText.visible(name))\" is removed\n")
        }
    }
}

extension KeyKind: ExpressibleByArgument {}
