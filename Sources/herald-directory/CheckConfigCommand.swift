// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import Host

/// `herald-directory check-config`.
struct CheckConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Check the configuration and report errors with file, line and key.",
        discussion: """
            Ends with 0, or prints every problem as file:line:column: key: message to standard error and ends with 1. The \
            command reads the files of admin.tls and opens nothing else.

            Example:
              herald-directory check-config --config /etc/herald/herald-directory.yaml
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config = StateOptions.packagedFile

    func run() throws {
        do {
            _ = try DirectoryConfiguration.load(path: config).certificate()
        } catch let error as ConfigurationError {
            throw CommandFailure("\(error)")
        }
        Output.write("\(config) can be used\n")
    }
}
