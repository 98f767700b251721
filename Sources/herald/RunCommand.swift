// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayApp

/// `herald run`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Proxy calls between trunk and PBX and brand them.",
        discussion: """
            Runs in the foreground and logs to standard error. SIGTERM waits for calls in progress, at most as long as \
            gateway.drain, and ends the gateway. A second SIGTERM ends it at once. Calls that are still in progress go \
            on with the next start. SIGHUP reads the configuration again.

            Example:
              herald run --config /etc/herald/herald.yaml
            """)

    @Option(name: .shortAndLong, help: "The configuration file.")
    var config = "/etc/herald/herald.yaml"

    func run() async throws { try await GatewayProcess.run(configurationFile: config) }
}
