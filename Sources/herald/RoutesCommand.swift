// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayOperator

/// `herald routes`.
struct RoutesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes",
        abstract: "List the routes by called number.",
        discussion: """
            Example:
              herald routes
            """,
        subcommands: [RoutesListCommand.self], defaultSubcommand: RoutesListCommand.self)
}

/// `herald routes list`.
struct RoutesListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the routes by called number: numbers, PBX, policy and limits.",
        discussion: """
            Reads the configuration and the list files, not the running gateway. The last line is for numbers without a \
            route. Remarks name entries that are listed twice and entries inside a prefix of another route.

            Examples:
              herald routes list
              herald routes list --customer acme
              herald routes list --wide
            """)

    @Option(help: ArgumentHelp("Only routes of this customer.", valueName: "name"))
    var customer: String?

    @OptionGroup var options: ListOptions

    func run() throws {
        try RouteListing(try options.configuration(lists: .read), customer: customer)
            .list(options.form, asJSON: options.json)
    }
}
