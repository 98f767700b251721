// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald logos`.
struct LogosCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logos",
        abstract: "List the logos that brands name with their state, or fetch them again.",
        discussion: """
            Examples:
              herald logos
              herald logos list --customer acme
              herald logos fetch
            """,
        subcommands: [LogosListCommand.self, LogosFetchCommand.self], defaultSubcommand: LogosListCommand.self)
}

/// `herald logos list`.
struct LogosListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the logos that brands name with their state.",
        discussion: """
            Reads the database, also beside a running gateway. Logos with a failed last fetch are the first lines. Times \
            are UTC. Without a copy of any logo the last lines give the reason. --customer lists those of a \
            customer. Without the section logos of the customer the list has their URLs, the numbers of their brands, and \
            whether calls get them.

            Examples:
              herald logos list --wide
              herald logos list --customer acme
              herald logos list --limit 1000 --json
            """)

    @Option(help: "Largest number of logos.")
    var limit = 100

    @Option(help: ArgumentHelp("The logos that brands of this customer name.", valueName: "name"))
    var customer: String?

    @OptionGroup var options: ListOptions

    func validate() throws { try OperatorOptions.check(limit: limit) }

    func run() throws {
        try LogoListing(try options.configuration(), customer: customer)
            .list(limit: limit, options.form, asJSON: options.json)
    }
}

/// `herald logos fetch`.
struct LogosFetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Make the running gateway fetch all logos again, or one.",
        discussion: """
            The gateway receives every logo again at once, whether it has changed or not. Copies stay in use until the new \
            ones are there. --clear removes the copies first.

            Examples:
              herald logos fetch
              herald logos fetch https://assets.example.com/acme.png --clear
            """)

    @Argument(help: "The only logo to fetch.")
    var url: String?

    @Flag(help: "Remove the copies first.")
    var clear = false

    @Option(help: ArgumentHelp("The logos that brands of this customer name.", valueName: "name"))
    var customer: String?

    @OptionGroup var options: OperatorOptions

    func run() async throws { try await options.orders().renewLogos(url, clears: clear, customer: customer) }
}
