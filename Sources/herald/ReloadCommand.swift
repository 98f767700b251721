// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald reload`.
struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Make the running gateway read its configuration again, and report the result.",
        discussion: """
            Does what SIGHUP does, and waits for the result. A file with a problem changes nothing: the command prints \
            the problem and ends with 1. Keys that need a restart are named. The gateway reads the file that it was \
            started with; --config only leads to the control socket.

            --dry-run changes nothing. It prints each setting with the old and the new value, and whether it needs a \
            restart. Secrets are never printed. It ends with 1 if a reload would be refused.

            Examples:
              herald reload --dry-run
              herald reload
            """)

    @Flag(name: .customLong("dry-run"), help: "Print what would change, and change nothing.")
    var isDryRun = false

    @OptionGroup var options: OperatorOptions

    func run() async throws {
        let orders = try options.orders()
        if isDryRun { try await orders.planReload() } else { try await orders.reload() }
    }
}
