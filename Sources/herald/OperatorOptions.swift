// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayApp

/// The options that every operator's command has.
struct OperatorOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config = "/etc/herald/herald.yaml"

    @Flag(help: "One JSON object a line instead of text.")
    var json = false

    /// The configuration without its secrets, which the operator may not be permitted to read.
    func configuration() throws -> HeraldConfiguration {
        try CommandFailure.reported { try HeraldConfiguration.load(path: config, secrets: .ignored) }
    }

    /// The gateway's state folder.
    func stateFolder() throws -> String { try configuration().state }

    /// Checks the `--limit` of a list.
    func check(limit: Int) throws {
        guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000000") }
    }
}
