// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald backup`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the state of the gateway into a new folder; the gateway keeps running.",
        discussion: """
            The backup has calls, events that the directory has not received, brands, signers, the secret and the \
            device of the gateway, and a manifest with their checksums. herald restore puts it back. The \
            configuration and its keys are not in it: copy /etc/herald too. Run it as the gateway's user.

            Example:
              sudo -u herald herald backup /var/backups/herald/2026-01-31
            """)

    @Argument(help: "The new folder; it must not exist.")
    var folder: String

    @OptionGroup var options: OperatorOptions

    func run() throws { try StateBackup(try options.configuration()).write(to: folder, asJSON: options.json) }
}
