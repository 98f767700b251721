// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore

/// `herald-directory backup`: a copy of the database beside a running server.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write a whole copy of the database to a new file; the server goes on meanwhile.",
        discussion: """
            To restore, stop the server and put the file in place of directory.sqlite, without directory.sqlite-wal and
            directory.sqlite-shm. Uploaded logos lie beside it in the folder logos; copy that too.

            Example:
              herald-directory backup /var/backups/directory-2026-01-31.sqlite
            """)

    @Argument(help: "A file that is not there yet.")
    var file: String

    @OptionGroup var options: StateOptions

    func run() throws {
        let database = try options.open()
        try explained { try database.backUp(to: file) }
        Output.write("\(file) written\n")
    }
}
