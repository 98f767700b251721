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

            Examples:
              herald check-config --config /etc/herald/herald.yaml
              herald check-config --json
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config = "/etc/herald/herald.yaml"

    @Flag(help: "One JSON object with problems, problems of the state folder and summary, instead of text.")
    var json = false

    func run() throws {
        let check = ConfigurationCheck(path: config)
        if json {
            try Output.write(json: check.json)
            if !check.problems.isEmpty { throw ExitCode(1) }
            return
        }
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
