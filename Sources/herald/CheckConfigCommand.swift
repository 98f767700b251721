// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import Foundation

/// `herald check-config`: what would run, or what is wrong with the file and where.
struct CheckConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Say what would run, or what is wrong in the configuration and where.",
        discussion: """
            Prints a short summary and ends with 0, or prints every problem as file:line:column: key: message to \
            standard error and ends with 1. Nothing is opened or sent; key files are read.

            Example:
              herald check-config --config /etc/herald/herald.yaml
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config = "/etc/herald/herald.yaml"

    func run() throws {
        let configuration: HeraldConfiguration
        do {
            configuration = try HeraldConfiguration.load(path: config)
        } catch {
            let count = error.problems.count
            let end = "\(count) problem\(count == 1 ? "" : "s"); nothing would start\n"
            try FileHandle.standardError.write(contentsOf: Data("\(error)\n\(end)".utf8))
            throw ExitCode(1)
        }
        Output.write(ConfigurationSummary(configuration).text)
    }
}
