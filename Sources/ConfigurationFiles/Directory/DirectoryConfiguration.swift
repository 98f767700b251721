// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host

/// The checked contents of `herald-directory.yaml`. `Config/herald-directory.yaml` explains each key.
package struct DirectoryConfiguration: Sendable {
    /// The listening address.
    package var listen = EndpointAddress(host: "127.0.0.1", port: 8088, isIPv6: false)
    /// Folder of the database.
    package var state = "/var/lib/herald-directory"
    /// The database on a PostgreSQL server; nil means the SQLite file of the state folder.
    package var database: Database?
    /// Folder of the logo files; nil serves no files.
    package var logos: String?
    /// The server's URL for clients, used for logos; nil means the listening address.
    package var publicURL: String?
    /// Limit of open connections.
    package var connections = 4096
    /// Limit of open connections per client address; 0 means no limit.
    package var connectionsPerClient = 256
    /// Time limit for sending one response.
    package var responseTimeout = Duration.seconds(1800)
    package var rateLimits = RateLimits.usual
    package var clients = ClientSettings()
    /// The apps that open the links of this server.
    package var links = AppLinks()

    /// A database on a PostgreSQL server, which several nodes can share.
    package struct Database: Hashable, Sendable {
        /// A connection URL as libpq reads it, without a password.
        package var url: String
        /// The file of the password; nil if libpq finds it.
        package var passwordFile: String?
        /// The URL of a standby for syncs.
        package var replica: String?
        /// Limit of connections for requests.
        package var connections = 8
        /// Limit of connections for long responses.
        package var feeds = 16
    }

    /// The location of the operator's API.
    package var admin = Admin.beside
    /// The pages at the location of the operator's API.
    package var pages = Pages()
    /// Days for which events, imprints, device logs and debug uploads are kept.
    package var keepDays = 400
    /// Whether customers register brands by the interface of CAMARA.
    package var offersRegistrations = false
    /// The push services; nil sends no push messages.
    package var push: PushConfiguration?
    /// MB per day that the clients of an account may store in addition to counted events; 0 means no limit.
    package var storedMBPerDay = 2000
    package var log = LogSettings()

    /// The location of the operator's API: off, at `listen`, or at an address of its own.
    package enum Admin: Hashable, Sendable {
        case off
        case beside
        case at(EndpointAddress)
    }

    /// Creates the default configuration.
    package init() {}

    /// Reads and checks a file.
    ///
    /// Relative paths start at the file's folder.
    ///
    /// - Throws: `ConfigurationError` with every problem, in the order of the file.
    package static func load(path: String) throws(ConfigurationError) -> DirectoryConfiguration {
        let file = try ConfigurationFile(path: path, environment: [:])
        return try file.read { root in
            var configuration = DirectoryConfiguration()
            let listen = root.parsed("listen") { text throws(AddressProblem) in
                try EndpointAddress.read(text, defaultPort: 8088)
            }
            configuration.listen = listen ?? configuration.listen
            configuration.state = root.string("state").map(file.resolved) ?? configuration.state
            root.within("database") { configuration.database = database($0, file) }
            configuration.logos = root.string("logos").map(file.resolved)
            if let problem = configuration.logos.flatMap(problem(ofLogos:)) { root.problem("logos", problem) }
            configuration.publicURL = root.string("public_url", form: URLForm.text, URLForm.isDirectory)
            if configuration.database != nil { checkShared(configuration, root) }
            configuration.connections = root.integer(
                "connections", default: configuration.connections, in: 16...100_000)
            configuration.connectionsPerClient = root.integer(
                "connections_per_client", default: configuration.connectionsPerClient, in: 0...100_000)
            configuration.responseTimeout = root.duration(
                "answer_timeout", default: configuration.responseTimeout, in: .seconds(60) ... .seconds(86_400))
            root.within("rate_limits") { configuration.rateLimits = rateLimits($0) }
            root.within("clients") { configuration.clients = clients($0) }
            root.within("links") { configuration.links = LinksSchema.read($0) }
            root.within("admin") { AdminSchema.read($0, file, into: &configuration) }
            root.within("camara") { configuration.offersRegistrations = $0.bool("enabled", default: false) }
            configuration.push = root.section("push") { PushSchema.read($0, file) }
            root.within("events") { section in
                configuration.keepDays = section.integer(
                    "keep_days", default: configuration.keepDays, in: 1...36_500)
                configuration.storedMBPerDay = section.integer(
                    "mb_per_day", default: configuration.storedMBPerDay, in: 0...1_000_000)
            }
            configuration.log = LogSchema.read(root, isGateway: false)
            return configuration
        }
    }

    private static func database(_ section: ConfigurationSection, _ file: ConfigurationFile) -> Database? {
        let passwordFile = section.string("password_file").map(file.resolved)
        let replica = section.string("replica")
        let connections = section.integer("connections", default: 8, in: 2...200)
        let feeds = section.integer("feeds", default: 16, in: 1...500)
        guard let url = section.string("url") else {
            section.problem("url", "is missing; write it such as postgres://herald@db.example.com/herald")
            return nil
        }
        for (key, text) in [("url", url), ("replica", replica ?? url)]
        where !text.hasPrefix("postgres://") && !text.hasPrefix("postgresql://") {
            section.problem(key, "is no URL of PostgreSQL; write it such as postgres://herald@db.example.com/herald")
        }
        return Database(
            url: url, passwordFile: passwordFile, replica: replica, connections: connections, feeds: feeds)
    }

    /// Checks what several nodes of one database need.
    private static func checkShared(_ configuration: DirectoryConfiguration, _ root: ConfigurationSection) {
        if configuration.logos != nil {
            root.problem(
                "logos",
                "is a folder of one machine, and database: is shared; add logos with herald-directory logos add")
        }
        if configuration.publicURL == nil {
            root.problem("public_url", "is needed with database:, because all nodes must give logos one URL")
        }
    }

    /// Returns the problem of a logo folder; nil if its files can be served.
    package static func problem(ofLogos path: String) -> String? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
            FileManager.default.isReadableFile(atPath: path)
        else { return "\(path) cannot be read: \(SystemError.ofReading(path))" }
        return isFolder.boolValue ? nil : "\(path) is not a folder"
    }

    private static func rateLimits(_ section: ConfigurationSection) -> RateLimits {
        let usual = RateLimits.usual
        var limits = usual
        let range = 0...100_000_000
        limits.web = section.integer("web", default: usual.web, in: range)
        limits.mobileIOS = section.integer("mobile_ios", default: usual.mobileIOS, in: range)
        limits.mobileAndroid = section.integer("mobile_android", default: usual.mobileAndroid, in: range)
        limits.herald = section.integer("herald", default: usual.herald, in: range)
        limits.key = section.integer("key", default: usual.key, in: range)
        limits.cards = section.integer("cards", default: usual.cards, in: range)
        limits.wrongKeys = section.integer("wrong_keys", default: usual.wrongKeys, in: range)
        return limits
    }

    private static func clients(_ section: ConfigurationSection) -> ClientSettings {
        var clients = ClientSettings()
        section.within("ios") { clients.ios = versions($0) }
        section.within("android") { clients.android = versions($0) }
        section.within("herald") { clients.herald = versions($0) }
        for key in ["min_supported_version", "latest_version"] where section.has(key) {
            section.problem(key, "belongs to one kind of client; write it below ios, android or herald")
        }
        clients.forceUpdate = section.bool("force_update", default: false)
        clients.syncIntervalMinutes = section.integer(
            "sync_interval_minutes", default: clients.syncIntervalMinutes, in: 1...10_080)
        clients.cacheTTLHours = section.integer("cache_ttl_hours", default: clients.cacheTTLHours, in: 1...8760)
        clients.blanksRemovedNumbers = section.bool("blank_removed_numbers", default: clients.blanksRemovedNumbers)
        clients.devicesPerAccount = section.integer(
            "devices_per_account", default: clients.devicesPerAccount, in: 0...100_000_000)
        clients.linkScheme =
            section.string("link_scheme", form: LinksSchema.schemeForm, LinksSchema.isScheme) ?? clients.linkScheme
        return clients
    }

    private static func versions(_ section: ConfigurationSection) -> ClientSettings.Versions {
        ClientSettings.Versions(
            minimum: section.string("min_supported_version", form: versionForm, isVersion),
            latest: section.string("latest_version", form: versionForm, isVersion))
    }

    private static let versionForm = "numbers separated by dots, such as 1.2.0"

    private static func isVersion(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return (1...4).contains(parts.count) && parts.allSatisfy { (1...9).contains($0.count) && Int($0) != nil }
    }
}
