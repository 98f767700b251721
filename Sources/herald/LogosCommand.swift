// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayApp

/// `herald logos`.
struct LogosCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logos",
        abstract: "List the logos that brands name: state, size and the last error.",
        discussion: """
            Reads the database, also beside a running gateway. Logos with a failed last fetch are the first lines. Times \
            are UTC. Without a copy of any logo the last lines give the reason. Of a customer's logos the gateway keeps no \
            copies: --customer lists their URLs, the numbers of their brands, and whether calls get them.

            Examples:
              herald logos
              herald logos --customer acme
              herald logos --limit 1000 --json
            """)

    @Option(help: "Largest number of logos.")
    var limit = 100

    @Option(help: ArgumentHelp("The logos that brands of this customer name.", valueName: "name"))
    var customer: String?

    @OptionGroup var options: OperatorOptions

    func validate() throws { try options.check(limit: limit) }

    func run() throws {
        try LogoListing(try options.configuration(), customer: customer).list(limit: limit, asJSON: options.json)
    }
}
