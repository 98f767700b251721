// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald restore`.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup into the state folder of a stopped gateway; the replaced files are kept.",
        discussion: """
            Checks the manifest, every checksum and the version of each database before the first change. A running \
            gateway, a damaged backup or one of a newer herald changes nothing and ends with 1. All files are replaced \
            or none: after a failure or a kill the earlier files are put back. --dry-run stops after the checks, also \
            beside a running gateway.

            Examples:
              sudo -u herald herald restore --dry-run /var/backups/herald/2026-01-31
              sudo -u herald herald restore /var/backups/herald/2026-01-31
            """)

    @Argument(help: "The folder of the backup.")
    var folder: String

    @Flag(name: .customLong("dry-run"), help: "Check the backup and change nothing.")
    var checksOnly = false

    @OptionGroup var options: OperatorOptions

    func run() throws {
        try StateRestore(try options.configuration()).run(
            from: folder, checksOnly: checksOnly, asJSON: options.json)
    }
}
