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
            are UTC. Without a copy of any logo the last lines give the reason.

            Examples:
              herald logos
              herald logos --limit 1000 --json
            """)

    @Option(help: "Largest number of logos.")
    var limit = 100

    @OptionGroup var options: OperatorOptions

    func validate() throws { try options.check(limit: limit) }

    func run() throws {
        try LogoListing(try options.configuration()).list(limit: limit, asJSON: options.json)
    }
}
