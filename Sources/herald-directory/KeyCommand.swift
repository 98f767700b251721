// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore

/// `herald-directory key`: who may use the directory.
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Make, list, rotate and revoke API keys.",
        discussion: """
            Example:
              herald-directory key create gateway --write /etc/herald/api-key
            """,
        subcommands: [Create.self, List.self, Rotate.self, Revoke.self])

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a key; it is shown this once.",
            discussion: """
                With --signed, three lines: the key, the id for X-Api-Id, and the secret that requests are signed with; with
                --write the key goes into the file and the two others are shown. The secret stays readable in the database, because signatures cannot be checked with a hash of it.

                Example:
                  herald-directory key create gateway --write /etc/herald/api-key
                """)

        @Argument(help: "A name to know it by.")
        var name: String

        @Option(
            help: ArgumentHelp(
                "gateway, or phone: its requests never have the limits of a gateway.", valueName: "kind"))
        var kind = KeyKind.gateway

        @OptionGroup var options: AccountOptions

        @OptionGroup var delivery: KeyDelivery

        @Flag(help: "Have its requests signed too; an id and a secret come with it.")
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
            abstract: "List keys by name; the keys themselves are not kept.",
            discussion: """
                Example:
                  herald-directory key list
                """)

        @OptionGroup var listing: KeyListing

        @OptionGroup var options: AccountOptions

        func run() throws { try listing.write(options.openAccount().keys()) }
    }

    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a successor of a key; the old one stays good for a while.",
            discussion: """
                Where requests of the key are signed, three lines come as with create --signed: the new key, and the id and
                secret of the old one, which stay. With --write only the key goes into the file.

                Example:
                  herald-directory key rotate gateway --grace-hours 48 --write /etc/herald/api-key
                """)

        @Argument(help: "The key's name or identifier.")
        var name: String

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("Hours the old key stays good; 0 ends it at once.", valueName: "hours"))
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

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take a key out of use at once.",
            discussion: """
                Example:
                  herald-directory key revoke gateway
                """)

        @Argument(help: "The key's name, which takes a predecessor in grace too, or its identifier.")
        var name: String

        @OptionGroup var options: AccountOptions

        func run() throws {
            guard try options.openAccount().revokeKey(name: name, now: secondsNow()) else {
                throw CommandFailure(
                    "there is no good key named \"\(TerminalText.visible(name))\"; see herald-directory key list")
            }
            Output.write("key \"\(TerminalText.visible(name))\" revoked\n")
        }
    }
}

extension KeyKind: ExpressibleByArgument {}
