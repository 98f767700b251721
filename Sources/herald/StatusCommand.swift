// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald status`.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of the running gateway.",
        discussion: """
            Readiness with the reason, calls in progress, the branded share, age of the last sync, outbox, recorder, \
            targets, certificates and problems. Uses the control socket in gateway.runtime, as the gateway's user, a \
            member of its group or root. Ends with 1 if no gateway runs.

            Examples:
              herald status
              herald status --json
            """)

    @OptionGroup var options: OperatorOptions

    func run() async throws { try await options.orders().status() }
}
