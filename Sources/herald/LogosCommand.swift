// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald logos`.
struct LogosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logos",
        abstract: "List the logos that brands name with their state, or fetch them again.",
        discussion: """
            Reads the database, also beside a running gateway. Logos with a failed last fetch are the first lines. Times \
            are UTC. Without a copy of any logo the last lines give the reason. --customer lists those of a \
            customer. Without the section logos of the customer the list has their URLs, the numbers of their brands, and \
            whether calls get them.

            --fetch makes the running gateway receive every logo again at once, whether it has changed or not. Copies \
            stay in use until the new ones are there. --clear removes the copies first. With --url both concern one logo.

            Examples:
              herald logos
              herald logos --customer acme
              herald logos --limit 1000 --json
              herald logos --fetch
              herald logos --clear --url https://assets.example.com/acme.png
            """)

    @Option(help: "Largest number of logos.")
    var limit = 100

    @Option(help: ArgumentHelp("The logos that brands of this customer name.", valueName: "name"))
    var customer: String?

    @Flag(help: "Fetch the logos again.")
    var fetch = false

    @Flag(help: "Remove the copies, then fetch the logos again.")
    var clear = false

    @Option(help: ArgumentHelp("The only logo of --fetch or --clear.", valueName: "URL"))
    var url: String?

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        try options.check(limit: limit)
        if url != nil, !fetch, !clear { throw ValidationError("--url needs --fetch or --clear") }
    }

    func run() async throws {
        if fetch || clear { return try await options.orders().renewLogos(url, clears: clear, customer: customer) }
        try LogoListing(try options.configuration(), customer: customer).list(limit: limit, asJSON: options.json)
    }
}
