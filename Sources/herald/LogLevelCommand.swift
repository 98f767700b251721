// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald log-level`.
struct LogLevelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-level",
        abstract: "Show or set the log level of the running gateway.",
        discussion: """
            The levels are trace, debug, info, notice, warning, error and critical. A level holds until --for is over, until \
            --reset, or until the next start.

            Examples:
              herald log-level
              herald log-level debug --for 10m
              herald log-level --reset
            """)

    @Argument(help: "The new level; none shows the present one.")
    var level: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Time after which the configured level returns, such as 10m.", valueName: "time"))
    var time: String?

    @Flag(help: "Return to the level of the configuration.")
    var reset = false

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        if reset, level != nil || time != nil { throw ValidationError("--reset takes neither a level nor --for") }
        if time != nil, level == nil { throw ValidationError("--for needs a level, such as debug") }
        _ = try duration()
    }

    func run() async throws {
        let orders = try options.orders()
        if level == nil, !reset {
            try await orders.logLevel()
        } else {
            try await orders.setLogLevel(level?.lowercased(), for: try duration())
        }
    }

    private func duration() throws -> Duration? { try time.map { try OperatorOptions.duration($0, of: "--for") } }
}
