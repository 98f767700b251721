// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayOperator
import Host

/// `herald backup`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write a copy of the ledger to a new file; the gateway keeps running.",
        discussion: """
            The ledger has the call records and the events that the directory has not received. To restore, stop the gateway and \
            put the file in place of herald.sqlite in gateway.state, without herald.sqlite-wal and herald.sqlite-shm. Copy \
            /etc/herald and the files secret and device-id too.

            Example:
              herald backup /var/backups/herald/herald-2026-01-31.sqlite
            """)

    @Argument(help: "The new file; it must not exist.")
    var file: String

    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config = "/etc/herald/herald.yaml"

    func run() throws {
        let configuration = try CommandFailure.reported {
            try HeraldConfiguration.load(path: config, secrets: .ignored, lists: .ignored)
        }
        try LedgerCopy(configuration).write(to: file)
    }
}
