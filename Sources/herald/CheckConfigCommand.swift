// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import Foundation
import GatewayApp

/// `herald check-config`: what would run, or what is wrong with the file and where.
struct CheckConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Say what would run, or what is wrong in the configuration and where.",
        discussion: """
            Prints a short summary and ends with 0, or prints every problem as file:line:column: key: message to \
            standard error and ends with 1. Problems of the state folder are printed too, and stop no start. Nothing is \
            sent; key files, certificates and the databases are read.

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
            throw Self.refused(error.problems.map(\.description))
        }
        let certificates = CertificateReport(configuration, at: Int64(Date().timeIntervalSince1970))
        guard certificates.problems.isEmpty else {
            throw Self.refused(certificates.problems.map { "\(config): \($0)" })
        }
        let lines = certificates.summary + certificates.remarks.map { "note    \($0)" }
        Output.write(ConfigurationSummary(configuration).text + lines.map { $0 + "\n" }.joined())
        let state = StateCheck(configuration).text
        if !state.isEmpty { try FileHandle.standardError.write(contentsOf: Data(state.utf8)) }
    }

    /// Writes what is wrong to standard error; returns how the command ends.
    private static func refused(_ problems: [String]) -> ExitCode {
        let end = "\(problems.count) problem\(problems.count == 1 ? "" : "s"); nothing would start"
        FileHandle.standardError.write(Data((problems + [end]).map { $0 + "\n" }.joined().utf8))
        return ExitCode(1)
    }
}
