// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayOperator

/// `herald drain`.
struct DrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Make the running gateway reject new calls while calls in progress go on.",
        discussion: """
            New calls and OPTIONS get 503 with Retry-After, so carriers and PBXs take another gateway. Emergency calls are \
            taken. /readyz responds with 503, and herald_draining is 1. --off ends the drain; so does a restart.

            Examples:
              herald drain
              herald drain --wait --timeout 30m && systemctl stop herald
              herald drain --off
            """)

    @Flag(help: "Take new calls again.")
    var off = false

    @Flag(help: "Return when no call is in progress any more.")
    var wait = false

    @Option(help: ArgumentHelp("Longest wait, such as 90s or 30m; then the exit code is 1.", valueName: "time"))
    var timeout: String?

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        if off, wait { throw ValidationError("--off and --wait exclude each other") }
        if timeout != nil, !wait { throw ValidationError("--timeout needs --wait") }
        _ = try longest()
    }

    func run() async throws { try await options.orders().drain(!off, waits: wait, longest: try longest()) }

    private func longest() throws -> Duration? { try timeout.map { try OperatorOptions.duration($0, of: "--timeout") } }
}
