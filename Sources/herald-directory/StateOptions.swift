// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import DirectoryStore

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
