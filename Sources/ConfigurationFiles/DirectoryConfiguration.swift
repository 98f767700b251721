// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Everything `herald-directory.yaml` says, checked; each key is explained in `Config/herald-directory.yaml`.
package struct DirectoryConfiguration: Sendable {
    /// Where the server listens.
    package var listen = EndpointAddress(host: "127.0.0.1", port: 8088, isIPv6: false)
    /// Folder of the database.
    package var state = "/var/lib/herald-directory"
    /// Folder of the logo files; nil serves none.
    package var logos: String?
    /// The URL under which clients reach this server, for logos; nil for the listening address.
    package var publicURL: String?
    /// Where the operator's API is.
    package var admin = Admin.beside
    /// Events received longer ago, in days, are removed.
    package var keepDays = 400
    package var log = LogSettings()

    /// Where the operator's API is: nowhere, beside the contract, or at an address of its own.
    package enum Admin: Hashable, Sendable {
        case off
        case beside
        case at(EndpointAddress)
    }

    /// What holds without a file.
    package init() {}

    /// Reads and checks a file; relative paths in it start from its own folder.
    ///
    /// - Throws: `ConfigurationError` with every problem found, in the order of the file.
    package static func load(path: String) throws(ConfigurationError) -> DirectoryConfiguration {
        let file = try ConfigurationFile(path: path, environment: [:])
        return try file.read { root in
            var configuration = DirectoryConfiguration()
            let listen = root.parsed("listen") { text throws(AddressProblem) in
                try EndpointAddress.read(text, defaultPort: 8088)
            }
            configuration.listen = listen ?? configuration.listen
            configuration.state = root.string("state").map(file.resolved) ?? configuration.state
            configuration.logos = root.string("logos").map(file.resolved)
            if let logos = configuration.logos, !FileManager.default.isReadableFile(atPath: logos) {
                root.problem("logos", "\(logos) cannot be read; is the path right, and may this user read it?")
            }
            configuration.publicURL = root.string("public_url", form: URLForm.text, URLForm.isDirectory)
            root.within("admin") { section in configuration.admin = admin(section, listen: configuration.listen) }
            root.within("events") { section in
                configuration.keepDays = section.integer(
                    "keep_days", default: configuration.keepDays, in: 1...36_500)
            }
            configuration.log = LogSchema.read(root, hasFormat: false)
            return configuration
        }
    }

    private static func admin(_ section: ConfigurationSection, listen: EndpointAddress) -> Admin {
        let isEnabled = section.bool("enabled", default: true)
        let address = section.parsed("listen") { text throws(AddressProblem) in
            try EndpointAddress.read(text, defaultPort: 8089)
        }
        guard isEnabled else { return .off }
        guard let address, address != listen else { return .beside }
        return .at(address)
    }
}
