// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator
import Host

/// `herald doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check configuration, machine, directory and peers, and print cause and remedy of each problem.",
        discussion: """
            Checks the running gateway, ports, folders and disk, certificates, clock, buffers, memory, names, PBXs and \
            trunks by OPTIONS, and the directory with its key. The checks run side by side; each waits a few seconds at \
            most. A line begins with ok, note, warning or error. The exit code is 1 with an error. Run it as the gateway's \
            user, who can read the key.

            Examples:
              sudo -u herald herald doctor
              sudo -u herald herald doctor --json
            """)

    @OptionGroup var options: OperatorOptions

    func run() async throws {
        let report = await Doctor(path: options.config).examine()
        try report.write(asJSON: options.json)
        if report.hasError { throw ExitCode(1) }
    }
}
