// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import DirectoryStore
import Dispatch
import Foundation

/// Where the program begins.
@main
enum HeraldDirectoryProgram {
    /// Runs the command with the priority of ordinary work; a task of the main thread is otherwise "user initiated".
    static func main() {
        // libdispatch asks for a niceness below 0 for its timer thread, and writes a line to syslog where it may not have it.
        // Nothing depends on it. An operator who sets the variable gets its lines.
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

/// Where the directory keeps its database; every command has it.
struct StateOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Folder of the database.", valueName: "folder"))
    var state: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("A configuration file that names the folder.", valueName: "file"))
    var config: String?

    /// What the configuration file says; nil without one.
    func configuration() throws -> DirectoryConfiguration? {
        guard let config else { return nil }
        do {
            return try DirectoryConfiguration.load(path: config)
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    /// Where the server of these options finds logos that were not uploaded.
    func logoPlace() throws -> LogoCheck.Place {
        guard let file = try configuration() else { return .asServed }
        return LogoCheck.place(logos: file.logos, publicURL: file.publicURL)
    }

    /// Opens the database in the folder named by the option, the file, or the usual place.
    ///
    /// - Parameter creates: false for commands that make no sense on an empty database.
    func open(creates: Bool = false, storedPerDay: Int = 0) throws -> DirectoryDatabase {
        let folder = try state ?? configuration()?.state ?? DirectoryConfiguration().state
        do {
            return try DirectoryDatabase(folder: folder, creates: creates, storedPerDay: storedPerDay)
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}

/// Why a command ends with exit code 1; printed as one line to standard error.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Seconds since 1970.
func secondsNow() -> Int64 { Int64(Date().timeIntervalSince1970) }
