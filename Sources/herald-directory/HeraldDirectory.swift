// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CVersion
import Host

/// The entry point of the program.
@main
enum HeraldDirectoryProgram {
    static func main() {
        ProgramStart.check(HeraldDirectory.tree)
        ProgramStart.run {
            await HeraldDirectory.main()
            HeraldDirectory.exit()
        }
    }
}

/// The self-hosted branding directory and its operator's commands.
struct HeraldDirectory: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "herald-directory",
        abstract: "A self-hosted branding directory for herald gateways.",
        discussion: """
            Example:
              herald-directory import brands.csv --state /var/lib/herald-directory
              herald-directory keys add gateway --write /etc/herald/api-key
              herald-directory run
            """,
        version: String(cString: herald_version()),
        subcommands: [
            RunCommand.self, CheckConfigCommand.self, StatusCommand.self, DoctorCommand.self, ImportCommand.self,
            ExportCommand.self, BrandsCommand.self, NumbersCommand.self, LogosCommand.self, EventsCommand.self,
            ReportCommand.self, AccountsCommand.self, KeysCommand.self, AdminKeysCommand.self, DevicesCommand.self,
            UploadsCommand.self, RegistrationsCommand.self, PushCommand.self, BackupCommand.self, RestoreCommand.self,
            CopyCommand.self,
        ])
}

extension ParsableCommand {
    /// The command with its subcommands.
    fileprivate static var tree: CommandTree {
        CommandTree(
            _commandName, configuration.subcommands.map { $0.tree }, isComplete: configuration.defaultSubcommand != nil)
    }
}
