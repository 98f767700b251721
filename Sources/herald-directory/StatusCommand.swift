// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryServer
import Host

/// `herald-directory status`.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of the directory.",
        discussion: """
            Readiness with the reason, accounts, numbers, events of the day, keys, database, disk, the last backup and
            problems. Asks the server at listen, and reads the database. Ends with 1 if no server responds.

            Examples:
              sudo -u herald herald-directory status
              sudo -u herald herald-directory status --json
            """)

    @Flag(help: "One JSON object instead of text.")
    var json = false

    @OptionGroup var options: StateOptions

    func run() async throws {
        let subject = try options.subject(of: options.configuration())
        let overview = try await CommandFailure.reported { () async throws in
            try await DirectoryOverview(subject, now: secondsNow())
        }
        if json { try Output.write(json: overview) } else { Output.write(overview.text) }
        if !overview.isRunning { throw ExitCode(1) }
    }
}
