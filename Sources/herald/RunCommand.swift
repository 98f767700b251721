// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CLinux
import CSQLite
import ConfigurationFiles
import Foundation
import GatewayApp
import Logging
import UnixSignals

/// `herald run`: the gateway itself, in the foreground until SIGTERM or SIGINT.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Stand between trunk and PBX and brand the calls.",
        discussion: """
            Runs in the foreground and logs to standard error. SIGTERM lets calls in progress finish, as long as \
            gateway.drain allows, and ends; a second one ends at once, and what is still in progress goes on with the \
            next start. SIGHUP reads the configuration again.

            Example:
              herald run --config /etc/herald/herald.yaml
            """)

    @Option(name: .shortAndLong, help: "The configuration file.")
    var config = "/etc/herald/herald.yaml"

    func run() async throws {
        herald_return_large_blocks()
        herald_sqlite_without_statistics()
        // Ledger, records and logs name callers: for this user and its group, whatever the folder's own mode.
        umask(0o027)
        // Before anything that takes time: a reload asked for meanwhile waits, where the signal would end the program.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let configuration = try CommandFailure.reported { try HeraldConfiguration.load(path: config) }
        let log = LogOutput.start(configuration.log)
        do {
            let gateway = try await RunningGateway(
                configuration, path: config, hangups: hangups, recentLog: log, logger: Logger(label: "herald"))
            try await gateway.run()
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}
