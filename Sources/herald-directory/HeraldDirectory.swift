// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CVersion
import Dispatch
import Foundation

/// The entry point of the program.
@main
enum HeraldDirectoryProgram {
    /// Runs the command with medium priority; a task of the main thread is "user initiated" by default.
    static func main() {
        // libdispatch asks for a niceness below 0 for its timer thread, and logs a refusal to syslog. The refusal is
        // harmless. An operator who sets the variable gets these lines.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        Task(priority: .medium) {
            await HeraldDirectory.main()
            HeraldDirectory.exit()
        }
        dispatchMain()
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
              herald-directory key create gateway --write /etc/herald/api-key
              herald-directory run
            """,
        version: String(cString: herald_version()),
        subcommands: [
            RunCommand.self, CheckConfigCommand.self, ImportCommand.self, ExportCommand.self, BrandCommand.self,
            NumberCommand.self,
            LogoCommand.self, EventsCommand.self, ReportCommand.self, AccountCommand.self, KeyCommand.self,
            AdminKeyCommand.self, DebugCommand.self, BackupCommand.self, CopyCommand.self,
        ])
}
