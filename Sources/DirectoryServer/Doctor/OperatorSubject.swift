// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
package import DirectoryStore

/// The directory that `status` and `doctor` examine: its settings, its database and its addresses.
package struct OperatorSubject: Sendable {
    /// The configuration file; nil for the defaults.
    package var file: String?
    package var configuration: DirectoryConfiguration
    /// Where logos are that were not uploaded.
    package var logos: LogoCheck.Place
    /// The folder of a SQLite file; nil for a PostgreSQL server.
    package var folder: String?
    /// Opens the database.
    package var open: @Sendable () throws -> DirectoryDatabase
    /// The version of this program.
    package var version: String
    /// The longest wait for a response of the server.
    var patience: Duration = .seconds(5)

    package init(
        file: String?, _ configuration: DirectoryConfiguration, logos: LogoCheck.Place, folder: String?,
        version: String,
        open: @escaping @Sendable () throws -> DirectoryDatabase
    ) {
        (self.file, self.configuration, self.logos) = (file, configuration, logos)
        (self.folder, self.version, self.open) = (folder, version, open)
    }

    /// Opens the database, unless that would change its schema beside a running server of an earlier version.
    func opened() throws -> DirectoryDatabase {
        if let folder, DirectoryDatabase.isOlder(folder: folder) { throw OlderSchema(folder: folder) }
        return try open()
    }

    /// The state of the running server; nil without a response of one.
    func server() async -> RunningServer? {
        let probe = ServerProbe(configuration.listen, patience: patience)
        guard case .response(let code, let body) = await probe.get("/readyz"), let readiness = Readiness(code, body)
        else {
            return nil
        }
        guard configuration.admin == .beside else { return RunningServer(readiness: readiness, status: nil) }
        guard case .response(200, let text) = await probe.get("/status") else {
            return RunningServer(readiness: readiness, status: nil)
        }
        return RunningServer(readiness: readiness, status: DirectoryStatus(json: text))
    }
}

/// A database of an earlier version.
struct OlderSchema: Error, CustomStringConvertible {
    let folder: String

    var description: String {
        "\(folder)/directory.sqlite has the schema of an earlier version; restart herald-directory to bring it up to date"
    }
}

/// A server that has responded.
struct RunningServer: Sendable {
    let readiness: Readiness
    /// Nil where its operator's API is at another address or not open to this machine.
    let status: DirectoryStatus?
}

/// A response of `/readyz`.
struct Readiness: Hashable, Sendable {
    /// Why the server is not ready; nil if it is.
    let problem: String?

    /// Nil for the response of another program.
    init?(_ code: Int, _ body: String) {
        let text = body.split(separator: "\n").first.map(String.init) ?? ""
        switch (code, text) {
        case (200, "ready"): problem = nil
        case (503, let text) where text.hasPrefix("not ready: "): problem = String(text.dropFirst("not ready: ".count))
        default: return nil
        }
    }
}
