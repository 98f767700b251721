// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import DirectoryServer
import Host

/// `herald-directory doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check configuration, server, database, keys and logos, and print cause and remedy of each problem.",
        discussion: """
            Checks the running server and its addresses, the certificate of the pages, database, schema, disk and the age of
            the backup, keys that end, the last event and logos of brands. A line begins with ok, note, warning or error. The
            exit code is 1 with an error. Run it as the server's user.

            Examples:
              sudo -u herald herald-directory doctor
              sudo -u herald herald-directory doctor --json
            """)

    @Flag(help: "One JSON object a line instead of text.")
    var json = false

    @OptionGroup var options: StateOptions

    func run() async throws {
        let report = await examine()
        try report.write(asJSON: json)
        if report.hasError { throw ExitCode(1) }
    }

    private func examine() async -> DoctorReport {
        let configuration: DirectoryConfiguration?
        do throws(ConfigurationError) {
            configuration = try options.file.map { path throws(ConfigurationError) in
                try DirectoryConfiguration.load(path: path)
            }
        } catch {
            return DirectoryDoctor.report(of: error)
        }
        return await DirectoryDoctor(options.subject(of: configuration), now: secondsNow()).examine()
    }
}
