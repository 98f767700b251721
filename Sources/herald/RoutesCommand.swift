// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayOperator

/// `herald routes`.
struct RoutesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes",
        abstract: "List the routes by called number: numbers, PBX, policy and limits.",
        discussion: """
            Reads the configuration and the list files, not the running gateway. The last line is for numbers without a \
            route. Remarks name entries that are listed twice and entries inside a prefix of another route.

            Examples:
              herald routes
              herald routes --customer acme
              herald routes --json
            """)

    @Option(help: ArgumentHelp("Only routes of this customer.", valueName: "name"))
    var customer: String?

    @OptionGroup var options: OperatorOptions

    func run() throws {
        try RouteListing(try options.configuration(lists: .read), customer: customer).list(asJSON: options.json)
    }
}
