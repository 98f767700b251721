// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import GatewayOperator
import Host

/// `herald check-config`.
struct CheckConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Check the configuration and report errors with file, line and key.",
        discussion: """
            Prints a short summary and ends with 0, or prints every problem as file:line:column: key: message to \
            standard error and ends with 1. Problems of the state folder are printed too; they do not stop a start. The \
            command reads key files, certificates and databases, and sends nothing.

            Example:
              herald check-config --config /etc/herald/herald.yaml
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config = "/etc/herald/herald.yaml"

    func run() throws {
        let check = ConfigurationCheck(path: config)
        guard check.problems.isEmpty else {
            FileHandle.standardError.write(Data(check.problemText.utf8))
            throw ExitCode(1)
        }
        Output.write(check.summary)
        if !check.stateProblems.isEmpty {
            try FileHandle.standardError.write(contentsOf: Data(check.stateProblems.utf8))
        }
    }
}
