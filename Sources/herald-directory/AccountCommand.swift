// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore

/// `herald-directory account`: who uses the directory, and the gates that every gateway obeys.
struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Open, list, change and close accounts.",
        discussion: """
            Example:
              herald-directory account create acme --cap 10000
              herald-directory account change --account acme --disable-branding
            """,
        subcommands: [Create.self, List.self, Change.self, Close.self], defaultSubcommand: Change.self)

    /// What may be set when an account is opened, and later.
    struct Settings: ParsableArguments {
        @Flag(inversion: .prefixedEnableDisable, help: "Let gateways brand calls, or stop them.")
        var branding: Bool?

        @Flag(
            inversion: .prefixedEnableDisable, help: "Let SIP elements brand calls, or have them pass calls through.")
        var voip: Bool?

        @Option(
            help: ArgumentHelp("active and trial let gateways brand, any other word stops them.", valueName: "word"))
        var status: String?

        @Option(help: ArgumentHelp("live, or testing for brands that are no real ones.", valueName: "mode"))
        var mode: String?

        @Option(
            parsing: .unconditional, help: ArgumentHelp("Counted events a month; -1 for no cap.", valueName: "number"))
        var cap: Int?

        @Option(
            name: .customLong("included-imprints"), parsing: .unconditional,
            help: ArgumentHelp("Counted events a month that the plan has paid for.", valueName: "number"))
        var includedImprints: Int?

        var change: AccountStore.Change {
            var change = AccountStore.Change()
            (change.brandingEnabled, change.voipDialerEnabled, change.status) = (branding, voip, status)
            (change.mode, change.cap, change.includedImprints) = (mode, cap, includedImprints)
            return change
        }
    }

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Open an account.",
            discussion: """
                Example:
                  herald-directory account create acme
                  herald-directory key create gateway --account acme --write acme.key
                """)

        @Argument(help: "Its name: letters, digits, dots, dashes and underscores.")
        var name: String

        @OptionGroup var settings: Settings

        @OptionGroup var options: StateOptions

        func run() throws {
            let accounts = AccountList(try options.open(creates: true))
            let account = try explained { try accounts.create(name: name, settings.change, now: secondsNow()) }
            try Output.write(json: try accounts.summary(of: account, now: secondsNow()))
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the accounts.",
            discussion: """
                Example:
                  herald-directory account list
                """)

        @Flag(help: "One JSON object a line instead of a table.")
        var json = false

        @OptionGroup var options: StateOptions

        func run() throws {
            let accounts = try AccountList(try options.open()).all(now: secondsNow())
            if json {
                for account in accounts { try Output.write(json: account) }
                return
            }
            let rows = accounts.map { account in
                [
                    account.name, account.id, account.status, account.mode, account.brandingEnabled ? "on" : "off",
                    account.voipDialerEnabled ? "on" : "off", "\(account.used)", account.cap.map(String.init),
                    "\(account.includedImprints)",
                ]
            }
            Output.write(
                table: ["NAME", "ID", "STATUS", "MODE", "BRANDING", "VOIP", "USED", "CAP", "INCLUDED"], rows)
        }
    }

    struct Change: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show or change what an account may do.",
            discussion: """
                Gateways obey with their next sync or event answer. Without options it only shows.

                Example:
                  herald-directory account change --disable-branding
                  herald-directory account change --account acme --cap 10000
                """)

        @OptionGroup var settings: Settings

        @OptionGroup var options: AccountOptions

        func run() throws {
            let account = try options.openAccount()
            try explained { try account.change(settings.change) }
            try Output.write(json: try account.config(now: secondsNow()))
        }
    }

    struct Close: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Close an account: its keys are revoked; its brands, events and reports stay.",
            discussion: """
                Example:
                  herald-directory account close acme
                """)

        @Argument(help: "The account's name or identifier.")
        var name: String

        @OptionGroup var options: StateOptions

        func run() throws {
            let accounts = AccountList(try options.open())
            try explained { try accounts.close(try accounts.find(name), now: secondsNow()) }
            Output.write("account \"\(TerminalText.visible(name))\" is closed and its keys are revoked\n")
        }
    }
}
