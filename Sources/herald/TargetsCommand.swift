// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald targets`.
struct TargetsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "targets",
        abstract: "List the targets of calls with their states, or take one out of service.",
        discussion: """
            A disabled target gets no new call; calls in progress stay there. OPTIONS go on, so its health is known when it \
            comes back. If no other target of its group is up, new calls get 503, and only emergency calls still try it. It \
            stays disabled over reloads and restarts, until --enable or until it leaves the configuration.

            CALLS are the calls in progress that were sent to the target. CALLS SENT counts them since the start, with \
            those that went on to another target. A call of a PBX counts at the target of its trunk.

            Examples:
              herald targets
              herald targets --disable 192.0.2.20:5060
              herald targets --enable 'pbx office 192.0.2.20:5060'
            """)

    @Option(help: ArgumentHelp("Take the target with this address out of service.", valueName: "target"))
    var disable: String?

    @Option(help: ArgumentHelp("Put the target with this address into service.", valueName: "target"))
    var enable: String?

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        if disable != nil, enable != nil { throw ValidationError("--disable and --enable exclude each other") }
    }

    func run() async throws {
        let orders = try options.orders()
        guard let name = disable ?? enable else { return try await orders.targets() }
        try await orders.setTarget(name, isDisabled: disable != nil)
    }
}
