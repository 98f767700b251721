// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore
import Host

/// `herald-directory copy`: a directory from its SQLite file into a PostgreSQL database.
struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy the SQLite database of a state folder into an empty PostgreSQL database.",
        discussion: """
            Stop the server first. Brands, keys, events, uploaded logos and logs are copied; gateways and phones go on from
            where they are. Then name the database in the configuration and start the server again. libpq finds the password
            in its passfile or in PGPASSWORD.

            Example:
              herald-directory copy --from /var/lib/herald-directory --to postgres://herald@db.example.com/herald
            """)

    @Option(help: ArgumentHelp("The state folder.", valueName: "folder"))
    var from: String

    @Option(help: ArgumentHelp("The PostgreSQL database.", valueName: "url"))
    var to: String

    @OptionGroup var result: ResultOptions

    func run() throws {
        OwnThread.lower(to: 10)
        let copy = try CommandFailure.reported { try DatabaseCopy(from: from, to: DatabaseServer(url: to)) }
        let counts = try reportingRefusals { try copy.run() }
        if result.json {
            return try Output.write(json: Dictionary(counts.map { ($0, $1) }, uniquingKeysWith: { $1 }))
        }
        for (table, rows) in counts where rows > 0 { Output.write("\(table): \(rows)\n") }
        Output.write("copied; name the database under database: in the configuration and start the server\n")
    }
}
