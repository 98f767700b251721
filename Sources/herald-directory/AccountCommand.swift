// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore
import Host
import Primitives

/// `herald-directory account`: the accounts, and the gates that every gateway obeys.
struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Create, list, change and close accounts.",
        discussion: """
            Example:
              herald-directory account create acme --cap 10000
              herald-directory account change --account acme --disable-branding
            """,
        subcommands: [Create.self, List.self, Change.self, Close.self, RenewFeed.self], defaultSubcommand: Change.self)

    /// The settings of a new or existing account.
    struct Settings: ParsableArguments {
        @Flag(inversion: .prefixedEnableDisable, help: "Let gateways brand calls, or stop them.")
        var branding: Bool?

        @Flag(
            inversion: .prefixedEnableDisable,
            help: "Send voip_dialer_enabled true or false; herald obeys false only if its configuration demands it.")
        var voip: Bool?

        @Option(
            help: ArgumentHelp(
                "One of \(AccountState.all): active and trial let gateways brand, the others stop them.",
                valueName: "status"))
        var status: String?

        @Option(help: ArgumentHelp("live, or testing for an account with test brands.", valueName: "mode"))
        var mode: String?

        @Option(
            parsing: .unconditional, help: ArgumentHelp("Counted events a month; -1 for no cap.", valueName: "number"))
        var cap: Int?

        @Option(
            name: .customLong("included-imprints"), parsing: .unconditional,
            help: ArgumentHelp("Counted events a month that the plan includes.", valueName: "number"))
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
            abstract: "Create an account.",
            discussion: """
                Example:
                  herald-directory account create acme
                  herald-directory key create gateway --account acme --write acme.key
                """)

        @Argument(help: "The name: letters, digits, dots, dashes and underscores.")
        var name: String

        @OptionGroup var settings: Settings

        @OptionGroup var options: StateOptions

        func run() throws {
            let accounts = AccountList(try options.open(creates: true))
            let account = try reportingRefusals { try accounts.create(name: name, settings.change, now: secondsNow()) }
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

        @Flag(help: "One JSON object per line instead of a table.")
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
            abstract: "Show or change the settings of an account.",
            discussion: """
                Gateways obey after their next sync or event. Without options the command only shows the settings.

                Example:
                  herald-directory account change --disable-branding
                  herald-directory account change --account acme --cap 10000
                """)

        @OptionGroup var settings: Settings

        @OptionGroup var options: AccountOptions

        func run() throws {
            let account = try options.openAccount()
            try reportingRefusals { try account.change(settings.change) }
            try Output.write(json: try account.config(now: secondsNow()))
        }
    }

    struct Close: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Close an account: revokes its keys, keeps its brands, events and reports.",
            discussion: """
                Example:
                  herald-directory account close acme
                """)

        @Argument(help: "The account's name or identifier.")
        var name: String

        @OptionGroup var options: StateOptions

        func run() throws {
            let accounts = AccountList(try options.open())
            try reportingRefusals { try accounts.close(try accounts.find(name), now: secondsNow()) }
            Output.write("account \"\(TerminalText.visible(name))\" is closed and its keys are revoked\n")
        }
    }

    struct RenewFeed: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Have all clients receive the whole set once, after the restore of a backup or a failover that lost changes.",
            discussion: """
                Example:
                  herald-directory account renew-feed --account acme
                """)

        @OptionGroup var options: AccountOptions

        func run() throws {
            try options.openAccount().renewFeed()
            Output.write("the feed has a new epoch; each client receives the whole set with its next sync\n")
        }
    }
}
