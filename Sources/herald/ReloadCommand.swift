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

            Example:
              herald reload
            """)

    @OptionGroup var options: OperatorOptions

    func run() async throws { try await options.orders().reload() }
}
