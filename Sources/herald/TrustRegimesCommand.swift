// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald trust regimes`.
struct TrustRegimesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "regimes",
        abstract: "List the regimes, or show the file of one.",
        discussion: """
            Examples:
              herald trust regimes
              herald trust regimes show us
            """,
        subcommands: [TrustRegimesListCommand.self, TrustRegimesShowCommand.self],
        defaultSubcommand: TrustRegimesListCommand.self)
}

/// `herald trust regimes list`.
struct TrustRegimesListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the regimes of the configuration and of the program.",
        discussion: """
            Example:
              herald trust regimes list
            """)

    @OptionGroup var options: ListOptions

    func run() throws {
        try RegimeListing(try? options.configuration(), path: options.common.config)
            .list(options.form, asJSON: options.json)
    }
}

/// `herald trust regimes show`.
struct TrustRegimesShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the file of a regime.",
        discussion: """
            A copy in the folder regimes beside the configuration replaces a regime of the program.

            Example:
              herald trust regimes show us > /etc/herald/regimes/us.yaml
            """)

    @Argument(help: "The regime.")
    var name: String

    @OptionGroup var options: OperatorOptions

    func run() throws {
        try RegimeListing(try? options.configuration(), path: options.config).write(name, asJSON: options.json)
    }
}
