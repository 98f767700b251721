// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import Foundation
import GatewayOperator
import Host

/// `herald simulate`.
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Show what the gateway would do with a pasted INVITE, and why.",
        discussion: """
            Reads an INVITE from a log, a trace or a file. It takes the gateway's own way through identity, decision and \
            decoration, with the configuration and the stored brands. The command prints the reason of each step and marks \
            the removed (-) and added (+) lines. It sends nothing, stores nothing and needs no running gateway. Line ends, \
            prefixes of log lines and a wrong Content-Length do not matter. Tags, branches and the cookie in Record-Route \
            differ from those of the gateway.

            Examples:
              herald simulate invite.txt
              herald simulate - --trunk carrier < invite.txt
              herald simulate invite.txt --from 203.0.113.5 --json
              herald simulate signed.txt --at 2026-11-29T12:00:00Z
            """)

    @Argument(help: "The file with the INVITE; - reads standard input.")
    var file: String

    @Option(help: ArgumentHelp("The trunk of the call; found by the sender by default.", valueName: "name"))
    var trunk: String?

    @Option(help: ArgumentHelp("The sender; by default that of the log line or the topmost Via.", valueName: "address"))
    var from: String?

    @Option(
        help: ArgumentHelp(
            "The time of the call, such as 2026-11-29T12:00:00Z; now by default. A signed token is old after a minute.",
            valueName: "time"))
    var at: String?

    @OptionGroup var options: OperatorOptions

    func run() throws {
        let simulator = try CallSimulator(
            try options.configuration(lists: .read), trunk: trunk, source: from, at: at)
        let report = try simulator.simulate(try text())
        if options.json { try Output.write(json: report.json) } else { Output.write(report.text) }
    }

    private func text() throws -> String {
        let data: Data
        if file == "-" {
            data = FileHandle.standardInput.readDataToEndOfFile()
        } else {
            data = try CommandFailure.reported { try CommandFile.read(file) }
        }
        return String(decoding: data, as: UTF8.self)
    }
}
