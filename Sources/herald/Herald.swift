// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The program: the gateway and the operator's commands around it.
@main
struct Herald: AsyncParsableCommand {
    /// The version of both programs, as `--version`, the directory and the status page show it.
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "herald",
        abstract: "Announces who calls: a name, a logo and a reason for calls from a trunk to a PBX.",
        discussion: """
            Example:
              herald check-config --config /etc/herald/herald.yaml
              herald run --config /etc/herald/herald.yaml
            """,
        version: version,
        subcommands: [
            RunCommand.self, CheckConfigCommand.self, LookupCommand.self, CallsCommand.self, EventsCommand.self,
            LogosCommand.self, ScaleLogoCommand.self,
        ])
}
