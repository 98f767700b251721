// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald targets`.
struct TargetsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "targets",
        abstract: "List the targets of calls with their states, or take one out of service.",
        discussion: """
            Examples:
              herald targets
              herald targets disable 192.0.2.20:5060
              herald targets enable 'pbx office 192.0.2.20:5060'
            """,
        subcommands: [TargetsListCommand.self, TargetsEnableCommand.self, TargetsDisableCommand.self],
        defaultSubcommand: TargetsListCommand.self)
}

/// `herald targets list`.
struct TargetsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the targets of calls with their states.",
        discussion: """
            CALLS are the calls in progress that were sent to the target. CALLS SENT counts them since the start, with \
            those that went on to another target. A call of a PBX counts at the target of its trunk.

            Examples:
              herald targets list
              herald targets list --wide
            """)

    @OptionGroup var options: ListOptions

    func run() async throws { try await options.orders().targets(options.form) }
}

/// `herald targets enable`.
struct TargetsEnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Put a target into service.",
        discussion: """
            Example:
              herald targets enable 192.0.2.20:5060
            """)

    @Argument(help: "The address of the target, or its group and address.")
    var target: String

    @OptionGroup var options: OperatorOptions

    func run() async throws { try await options.orders().setTarget(target, isDisabled: false) }
}

/// `herald targets disable`.
struct TargetsDisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Take a target out of service, until it is enabled.",
        discussion: """
            The target gets no new call; calls in progress stay there. OPTIONS go on, so its health is known when it comes \
            back. If no other target of its group is up, new calls get 503, and only emergency calls still try it. It stays \
            disabled over reloads and restarts, until it is enabled or leaves the configuration.

            Example:
              herald targets disable 192.0.2.20:5060
            """)

    @Argument(help: "The address of the target, or its group and address.")
    var target: String

    @OptionGroup var options: OperatorOptions

    func run() async throws { try await options.orders().setTarget(target, isDisabled: true) }
}
