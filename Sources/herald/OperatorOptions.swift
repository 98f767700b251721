// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrandingAPI
import ConfigurationFiles
import Foundation
import GatewayApp

/// What every operator's command takes.
struct OperatorOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config = "/etc/herald/herald.yaml"

    @Flag(help: "One JSON object a line instead of text.")
    var json = false

    /// The configuration without its secrets, which an operator may not be allowed to read.
    func configuration() throws -> HeraldConfiguration {
        try CommandFailure.reported { try HeraldConfiguration.load(path: config, secrets: .ignored) }
    }
}

extension OperatorOptions {
    /// The gateway's state folder, for commands that need nothing else.
    func stateFolder() throws -> String { try configuration().state }
}
