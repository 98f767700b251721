// SPDX-License-Identifier: Apache-2.0

/// Finds logos that brands name and the server does not have, for warnings to the operator.
package struct LogoCheck: Sendable {
    /// The location of logo files that were not uploaded.
    package enum Place: Hashable, Sendable {
        case folder(String)
        /// The configuration names no folder.
        case nowhere
        /// On another server behind `public_url`; their names are unknown here.
        case elsewhere
        /// The location of the server's last run.
        case asServed
    }

    private let database: DirectoryDatabase
    private let place: Place

    package init(_ database: DirectoryDatabase, in place: Place) {
        self.database = database
        self.place = place
    }

    /// The location of a server with these settings.
    package static func place(logos: String?, publicURL: String?) -> Place {
        logos.map { .folder($0) } ?? (publicURL == nil ? .nowhere : .elsewhere)
    }

    /// The reason for which the server cannot serve a brand's logo; nil for a URL and for a logo that it can serve.
    package func problem(of logo: String?) throws -> String? {
        guard let logo, !logo.isEmpty, !LogoURLs.isURL(logo) else { return nil }
        return try database.pool.read { try Inventory(self, $0).problem(of: logo) }
    }

    /// The uploaded logos and the folder, read once for many names.
    struct Inventory {
        private let uploaded: Set<String>
        private let place: Place

        init(_ check: LogoCheck, _ database: any SQLConnection) throws {
            uploaded = Set(try LogoStore(check.database).hashes(database).keys)
            place = check.place == .asServed ? try LogoCheck.asServed(database) : check.place
        }

        /// The reason for which the file of a plain name cannot be served.
        func problem(of logo: String) -> String? {
            uploaded.contains(logo) ? nil : place.problem(of: logo)
        }
    }

    private static func asServed(_ database: any SQLConnection) throws -> Place {
        let content = try ServedLogoTable.Content(database)
        if content.signature.hasPrefix(ServedLogoTable.elsewhere) { return .elsewhere }
        // A server without a folder may have one in its next run.
        return content.folder.map { .folder($0) } ?? .asServed
    }
}

extension LogoCheck.Place {
    /// The reason for which a file that was not uploaded cannot be served; nil if it can be, or if that is unknown.
    fileprivate func problem(of logo: String) -> String? {
        switch self {
        case .elsewhere: return nil
        case .folder(let path): return LogoFolder(path: path).problem(of: logo)
        case .nowhere:
            return """
                logo "\(logo)" is not among the uploaded logos, and logos: names no folder; add it with \
                herald-directory logos add
                """
        case .asServed:
            return """
                logo "\(logo)" is not among the uploaded logos; whether it is in a folder is known with --config only
                """
        }
    }
}

extension LogoFolder {
    /// The reason for which a file cannot be served; nil if it can be.
    func problem(of name: String) -> String? {
        let reason: String
        switch read(name) {
        case .success: return nil
        case .failure(.missing):
            return """
                logo "\(name)" is neither in \(path) nor among the uploaded logos; put it there, or add it with \
                herald-directory logos add
                """
        case .failure(.unreadable(let text)): reason = "cannot be read: \(text)"
        case .failure(.tooLarge): reason = "has more than \(LogoStore.limit) bytes"
        case .failure(.badType): reason = "is neither a PNG nor a JPEG"
        }
        return "logo \"\(name)\" cannot be served: \(path)/\(name) \(reason)"
    }
}
