// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CVersion
import ConfigurationFiles
import DirectoryServer
import DirectoryStore
import Glibc
import Host

/// The location of the database, an option of every command.
struct StateOptions: ParsableArguments {
    /// The configuration of the packages, which every command reads where it exists.
    static let packagedFile = "/etc/herald/herald-directory.yaml"
    /// The file that is read without `--config`; tests replace it.
    @TaskLocal static var defaultFile = packagedFile

    @Option(help: ArgumentHelp("Folder of the database.", valueName: "folder"))
    var state: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The configuration file; \(StateOptions.packagedFile) by default, where it exists and no database is named.",
            valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("A PostgreSQL database instead of the folder.", valueName: "url"))
    var database: String?

    /// The path of the configuration file: the option's, or the default one where it exists; nil without a file.
    ///
    /// `--state` and `--database` name another directory than that of the default file.
    var file: String? {
        if let config { return config }
        guard state == nil, database == nil, access(Self.defaultFile, F_OK) == 0 else { return nil }
        return Self.defaultFile
    }

    /// The configuration file; nil without one.
    func configuration() throws -> DirectoryConfiguration? {
        guard let file else { return nil }
        return try CommandFailure.reported { try DirectoryConfiguration.load(path: file) }
    }

    /// The location of logos that were not uploaded, for a server with these options.
    func logoPlace() throws -> LogoCheck.Place {
        guard let file = try configuration() else { return .asServed }
        return LogoCheck.place(logos: file.logos, publicURL: file.publicURL)
    }

    /// Opens the database in the folder from the option, from the file, or in the default folder; or on the PostgreSQL
    /// server from the option or the file.
    ///
    /// - Parameter creates: false for commands that need an existing database.
    func open(creates: Bool = false, storedPerDay: Int = 0) throws -> DirectoryDatabase {
        let configuration = try configuration()
        let folder = state ?? configuration?.state ?? DirectoryConfiguration().state
        return try CommandFailure.reported {
            if let server = server(configuration) {
                return try DirectoryDatabase(
                    server: server, folder: folder, creates: creates, storedPerDay: storedPerDay)
            }
            return try DirectoryDatabase(folder: folder, creates: creates, storedPerDay: storedPerDay)
        }
    }

    /// The state folder of a directory on SQLite, whether there is a database or not.
    ///
    /// - Throws: `CommandFailure` for a directory on PostgreSQL, with its own tools.
    func stateFolder() throws -> String {
        let configuration = try configuration()
        if let server = server(configuration) { throw CommandFailure("\(ServerRestoreError(server))") }
        return state ?? configuration?.state ?? DirectoryConfiguration().state
    }

    /// The directory of these options, for commands that look at all of it.
    ///
    /// - Parameter file: the configuration file; nil without one.
    func subject(of file: DirectoryConfiguration?) -> OperatorSubject {
        let configuration = file ?? DirectoryConfiguration()
        let folder = server(file) == nil ? state ?? configuration.state : nil
        let logos = file.map { LogoCheck.place(logos: $0.logos, publicURL: $0.publicURL) } ?? .asServed
        return OperatorSubject(
            file: file == nil ? nil : self.file, configuration, logos: logos, folder: folder,
            version: String(cString: herald_version())
        ) { try open() }
    }

    /// The PostgreSQL server; nil for SQLite, which `--state` without `--database` also asks for.
    private func server(_ configuration: DirectoryConfiguration?) -> DatabaseServer? {
        let configured = configuration?.database
        guard let url = database ?? (state == nil ? configured?.url : nil) else { return nil }
        var server = DatabaseServer(url: url)
        guard let configured else { return server }
        // Another role has another password.
        if database == nil { server.passwordFile = configured.passwordFile }
        server.replica = database == nil ? configured.replica : nil
        (server.connections, server.feeds) = (configured.connections, configured.feeds)
        return server
    }
}
