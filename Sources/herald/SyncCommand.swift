// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayApp

/// `herald sync --now`.
struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Make the running gateway sync with the directory at once, and print the result.",
        discussion: """
            Uses the control socket in gateway.runtime, as the gateway's user, a member of its group or root. The exit \
            code is 0 after a good sync. It is 1 after a failed one, when another sync runs, and when no gateway runs. \
            Interrupting the command does not interrupt the sync.

            Examples:
              herald sync --now
              herald sync --now --full --json
            """)

    @Flag(help: "Sync now; the gateway itself syncs every directory.sync_interval.")
    var now = false

    @Flag(help: "Fetch all records instead of the changes.")
    var full = false

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        guard now else { throw ValidationError("--now is missing; it starts the sync") }
    }

    func run() async throws {
        try await SyncOrder(runtimeFolder: try options.configuration().runtime).run(full: full, asJSON: options.json)
    }
}
