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

    @OptionGroup var result: ResultOptions

    func run() throws {
        do {
            _ = try DirectoryConfiguration.load(path: config).certificate()
        } catch let error as ConfigurationError {
            guard result.json else { throw CommandFailure("\(error)") }
            try Output.write(json: ["problems": error.problems.map(\.description)])
            throw ExitCode(1)
        } catch let error as CommandFailure where result.json {
            try Output.write(json: ["problems": [error.description]])
            throw ExitCode(1)
        }
        if result.json { return try Output.write(json: ["problems": [String]()]) }
        Output.write("\(config) can be used\n")
    }
}
