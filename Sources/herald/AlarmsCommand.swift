// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald alarms`.
struct AlarmsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alarms",
        abstract: "List the brands whose numbers arrive in an unusual way, as spoofed calls do.",
        discussion: """
            Examples:
              herald alarms
              herald alarms --days 7 --wide
            """,
        subcommands: [AlarmsListCommand.self], defaultSubcommand: AlarmsListCommand.self)
}

/// `herald alarms list`.
struct AlarmsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the alarms by day, brand and kind.",
        discussion: """
            Reads the ledger, also beside a running gateway. Days are in UTC. A digest has no callee.

            Examples:
              herald alarms list --days 7 --wide
              herald alarms list --brand 'Acme Bank' --json
            """)

    @Option(help: ArgumentHelp("Today and the days before it, 1 to 60.", valueName: "number"))
    var days = 2

    @Option(help: ArgumentHelp("Only alarms of this brand: its whole name, or its id.", valueName: "brand"))
    var brand: String?

    @Option(help: ArgumentHelp("Only alarms of this customer.", valueName: "name"))
    var customer: String?

    @OptionGroup var options: ListOptions

    func validate() throws {
        guard (1...60).contains(days) else { throw ValidationError("--days must be 1 to 60") }
    }

    func run() throws {
        try AlarmListing(try options.configuration(), brand: brand, customer: customer)
            .list(days: days, options.form, asJSON: options.json)
    }
}
