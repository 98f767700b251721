// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore
import Host

/// `herald-directory backup`: a copy of the database, taken beside a running server.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write a copy of the database to a new file; the server keeps running.",
        discussion: """
            herald-directory restore puts it back. Uploaded logos and long logs are in the folders logos and uploads of the
            state folder; copy them beside the file.

            Example:
              herald-directory backup /var/backups/directory-2026-01-31.sqlite
            """)

    @Argument(help: "The new file; it must not exist.")
    var file: String

    @OptionGroup var options: StateOptions

    func run() throws {
        // The server beside this command goes first.
        OwnThread.lower(to: 10)
        let database = try options.open()
        try reportingRefusals { try database.backUp(to: file) }
        Output.write("\(file) written\n")
    }
}
