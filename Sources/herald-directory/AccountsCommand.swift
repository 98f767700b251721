// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore
import Host
import Primitives

/// `herald-directory accounts`: the accounts, and the gates that every gateway obeys.
struct AccountsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List, show, add, set and remove accounts.",
        discussion: """
            Example:
              herald-directory accounts add acme --cap 10000
              herald-directory accounts set acme --disable-branding
            """,
        subcommands: [List.self, Show.self, Add.self, Set.self, Remove.self, RenewFeed.self],
        defaultSubcommand: List.self)

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

        @Option(
            help: ArgumentHelp(
                "on gives each brand a public card at public_url/b/BRAND, off takes the cards away.",
                valueName: "on|off"))
        var card: CardSwitch?

        var change: AccountStore.Change {
            var change = AccountStore.Change()
            (change.brandingEnabled, change.voipDialerEnabled, change.status) = (branding, voip, status)
            (change.mode, change.cap, change.includedImprints) = (mode, cap, includedImprints)
            change.hasCards = card.map { $0 == .on }
            return change
        }
    }

    /// The switch of public cards.
    enum CardSwitch: String, ExpressibleByArgument, CaseIterable { case on, off }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the accounts.",
            discussion: """
                Example:
                  herald-directory accounts list
                """)

        @OptionGroup var list: ListOptions

        @OptionGroup var options: StateOptions

        func run() throws {
            let accounts = try AccountList(try options.open()).all(now: secondsNow())
            if list.json { return try accounts.forEach { try Output.write(json: $0) } }
            let rows = accounts.map { account in
                [
                    account.name, account.id, account.status, account.mode, account.brandingEnabled ? "on" : "off",
                    account.voipDialerEnabled ? "on" : "off", "\(account.used)", account.cap.map(String.init),
                    "\(account.includedImprints)", account.hasCards ? "on" : "off",
                ]
            }
            Output.write(
                table: ["NAME", "ID", "STATUS", "MODE", "BRANDING", "VOIP", "USED", "CAP", "INCLUDED", "CARD"],
                list.form,
                wideOnly: ["ID", "VOIP", "INCLUDED", "CARD"], rows)
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the settings of an account and its events of the month.",
            discussion: """
                Example:
                  herald-directory accounts show acme
                """)

        @OptionGroup var account: AccountArgument

        @OptionGroup var result: ResultOptions

        func run() throws { try account.write(result.json) }
    }

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add an account.",
            discussion: """
                Example:
                  herald-directory accounts add acme
                  herald-directory keys add gateway --account acme --write acme.key
                """)

        @Argument(help: "The name: letters, digits, dots, dashes and underscores.")
        var name: String

        @OptionGroup var settings: Settings

        @OptionGroup var result: ResultOptions

        @OptionGroup var options: StateOptions

        func run() throws {
            let accounts = AccountList(try options.open(creates: true))
            let account = try reportingRefusals { try accounts.create(name: name, settings.change, now: secondsNow()) }
            if result.json { return try Output.write(json: try accounts.summary(of: account, now: secondsNow())) }
            Output.write("account \"\(TerminalText.visible(name))\" added\n")
        }
    }

    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set the given settings of an account.",
            discussion: """
                Gateways obey after their next sync or event.

                Example:
                  herald-directory accounts set --disable-branding
                  herald-directory accounts set acme --cap 10000
                """)

        @OptionGroup var account: AccountArgument

        @OptionGroup var settings: Settings

        @OptionGroup var result: ResultOptions

        func validate() throws {
            if settings.change == AccountStore.Change() {
                throw ValidationError("set needs a setting, such as --cap 10000")
            }
        }

        func run() throws {
            let store = try account.openAccount()
            try reportingRefusals { try store.change(settings.change) }
            try account.write(result.json)
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an account and its keys; its brands, events and reports stay.",
            discussion: """
                Example:
                  herald-directory accounts remove acme
                """)

        @Argument(help: "The account's name or identifier.")
        var name: String

        @OptionGroup var options: StateOptions

        func run() throws {
            let accounts = AccountList(try options.open())
            try reportingRefusals { try accounts.close(try accounts.find(name), now: secondsNow()) }
            Output.write("account \"\(TerminalText.visible(name))\" and its keys are removed; its status is closed\n")
        }
    }

    struct RenewFeed: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Have all clients receive the whole set once, after the restore of a backup or a failover that lost changes.",
            discussion: """
                Example:
                  herald-directory accounts renew-feed acme
                """)

        @OptionGroup var account: AccountArgument

        func run() throws {
            try account.openAccount().renewFeed()
            Output.write("the feed has a new epoch; each client receives the whole set with its next sync\n")
        }
    }
}

/// The account that a command is about.
struct AccountArgument: ParsableArguments {
    @Argument(help: "The account's name or identifier; the first account by default.")
    var name: String?

    @OptionGroup var options: StateOptions

    /// Opens the database and finds the account.
    func open() throws -> (database: DirectoryDatabase, account: AccountID) {
        let database = try options.open()
        guard let name else { return (database, .first) }
        return (database, try reportingRefusals { try AccountList(database).find(name) })
    }

    /// Opens the settings and keys of the account.
    func openAccount() throws -> AccountStore {
        let (database, account) = try open()
        return AccountStore(database, account: account)
    }

    /// Writes the settings of the account, a line each, or one JSON object.
    func write(_ asJSON: Bool) throws {
        let (database, id) = try open()
        let account = try reportingRefusals { try AccountList(database).summary(of: id, now: secondsNow()) }
        if asJSON { return try Output.write(json: account) }
        Output.write(facts: [
            ("name", account.name), ("id", account.id), ("status", account.status), ("mode", account.mode),
            ("branding", account.brandingEnabled ? "on" : "off"), ("voip", account.voipDialerEnabled ? "on" : "off"),
            ("used", "\(account.used) counted events this month"),
            ("cap", account.cap.map { "\($0) a month" } ?? "none"), ("included", "\(account.includedImprints) a month"),
            ("card", account.hasCards ? "on" : "off"),
        ])
    }
}
