// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import DirectoryStore
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
        version: "0.1.0",
        subcommands: [
            RunCommand.self, ImportCommand.self, ExportCommand.self, BrandCommand.self, NumberCommand.self,
            LogoCommand.self, EventsCommand.self, ReportCommand.self, AccountCommand.self, KeyCommand.self,
            AdminKeyCommand.self, DebugCommand.self, BackupCommand.self,
        ])
}

/// The location of the database, an option of every command.
struct StateOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Folder of the database.", valueName: "folder"))
    var state: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("A configuration file that names the folder.", valueName: "file"))
    var config: String?

    /// The configuration file; nil without one.
    func configuration() throws -> DirectoryConfiguration? {
        guard let config else { return nil }
        do {
            return try DirectoryConfiguration.load(path: config)
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    /// The location of logos that were not uploaded, for a server with these options.
    func logoPlace() throws -> LogoCheck.Place {
        guard let file = try configuration() else { return .asServed }
        return LogoCheck.place(logos: file.logos, publicURL: file.publicURL)
    }

    /// Opens the database in the folder from the option, from the file, or in the default folder.
    ///
    /// - Parameter creates: false for commands that need an existing database.
    func open(creates: Bool = false, storedPerDay: Int = 0) throws -> DirectoryDatabase {
        let folder = try state ?? configuration()?.state ?? DirectoryConfiguration().state
        do {
            return try DirectoryDatabase(folder: folder, creates: creates, storedPerDay: storedPerDay)
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}

/// An error that ends a command with exit code 1; one line on standard error.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Seconds since 1970.
func secondsNow() -> Int64 { Int64(Date().timeIntervalSince1970) }
