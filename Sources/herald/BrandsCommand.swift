// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import GatewayOperator

/// `herald brands`.
struct BrandsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "brands",
        abstract: "List the brands of the local copy, or show one with its logo, gates and last calls.",
        discussion: """
            Examples:
              herald brands
              herald brands show acme
            """,
        subcommands: [BrandsListCommand.self, BrandsShowCommand.self], defaultSubcommand: BrandsListCommand.self)
}

/// `herald brands list`.
struct BrandsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the brands with their numbers.",
        discussion: """
            Reads the copy of the last sync, also beside a running gateway. A brand is one line. Where its numbers differ, \
            the line has the count of logos and reasons; herald brands show has each.

            Examples:
              herald brands list
              herald brands list --customer acme --json
            """)

    @Option(help: "Largest number of brands.")
    var limit = 100

    @Option(help: ArgumentHelp("The brands of this customer.", valueName: "name"))
    var customer: String?

    @OptionGroup var options: ListOptions

    func validate() throws { try OperatorOptions.check(limit: limit) }

    func run() throws {
        try LocalBrands(try options.configuration(), customer: customer)
            .list(limit: limit, options.form, asJSON: options.json)
    }
}

/// `herald brands show`.
struct BrandsShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a brand: numbers, reason, logo, gates, outcomes of seven days and the last calls.",
        discussion: """
            Reads the copy of the last sync and the ledger, also beside a running gateway. The logo is that of the lowest \
            number.

            Examples:
              herald brands show acme
              herald brands show 'Acme Bank' --json
            """)

    @Argument(help: "The identifier of the brand, or its whole name.")
    var brand: String

    @Option(help: ArgumentHelp("The brand of this customer.", valueName: "name"))
    var customer: String?

    @OptionGroup var options: OperatorOptions

    func run() throws {
        try LocalBrands(try options.configuration(), customer: customer).show(
            brand, asJSON: options.json, now: Int64(Date().timeIntervalSince1970))
    }
}
