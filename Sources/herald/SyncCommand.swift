// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayOperator

/// `herald sync`.
struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Make the running gateway sync with the directory at once, and print the result.",
        discussion: """
            Uses the control socket in gateway.runtime, as the gateway's user, a member of its group or root. The exit \
            code is 0 after a good sync. It is 1 after a failed one, when another sync runs, and when no gateway runs. \
            Interrupting the command does not interrupt the sync.

            Examples:
              herald sync
              herald sync --full --json
              herald sync --customer acme
            """)

    @Flag(help: "Fetch all records instead of the changes.")
    var full = false

    @Option(help: ArgumentHelp("Sync the account of this customer.", valueName: "name"))
    var customer: String?

    @OptionGroup var options: OperatorOptions

    func run() async throws {
        try await SyncOrder(runtimeFolder: try options.configuration().runtime).run(
            full: full, customer: customer, asJSON: options.json)
    }
}
