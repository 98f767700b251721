// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Tells an operator which logos the server does not have, when a brand comes to name them.
package struct LogoCheck: Sendable {
    /// Where the files are that were not uploaded.
    package enum Place: Hashable, Sendable {
        case folder(String)
        /// The configuration names no folder.
        case nowhere
        /// On another server behind `public_url`; nobody here knows which are there.
        case elsewhere
        /// As the server had it when it ran last.
        case asServed
    }

    private let database: DirectoryDatabase
    private let place: Place

    package init(_ database: DirectoryDatabase, in place: Place) {
        self.database = database
        self.place = place
    }

    /// Where a server with these settings finds its files.
    package static func place(logos: String?, publicURL: String?) -> Place {
        logos.map { .folder($0) } ?? (publicURL == nil ? .nowhere : .elsewhere)
    }

    /// Why the server cannot give a brand's logo to clients; nil when it can, and for a URL.
    package func problem(of logo: String?) throws -> String? {
        guard let logo, !logo.isEmpty, !LogoURLs.isURL(logo) else { return nil }
        return try database.pool.read { try Look(self, $0).problem(of: logo) }
    }

    /// The uploaded logos and the folder, read once for many names.
    struct Look {
        private let uploaded: Set<String>
        private let place: Place

        init(_ check: LogoCheck, _ database: Database) throws {
            uploaded = Set(try LogoStore(check.database).hashes(database).keys)
            place = check.place == .asServed ? try LogoCheck.asServed(database) : check.place
        }

        /// Why the file of a plain name cannot be served.
        func problem(of logo: String) -> String? {
            uploaded.contains(logo) ? nil : place.problem(of: logo)
        }
    }

    private static func asServed(_ database: Database) throws -> Place {
        let content = try ServedLogoTable.Content(database)
        if content.signature.hasPrefix(ServedLogoTable.elsewhere) { return .elsewhere }
        // A server that served no logos may run with them next time.
        return content.folder.map { .folder($0) } ?? .asServed
    }
}

extension LogoCheck.Place {
    /// Why a file that was not uploaded cannot be served; nil when it can, or may be.
    fileprivate func problem(of logo: String) -> String? {
        switch self {
        case .elsewhere: return nil
        case .folder(let path): return LogoFolder(path: path).problem(of: logo)
        case .nowhere:
            return """
                logo "\(logo)" is not among the uploaded logos, and logos: names no folder; add it with \
                herald-directory logo add
                """
        case .asServed:
            return """
                logo "\(logo)" is not among the uploaded logos; whether it is in a folder is known with --config only
                """
        }
    }
}

extension LogoFolder {
    /// Why a file cannot be served, in words; nil when it can.
    func problem(of name: String) -> String? {
        let reason: String
        switch read(name) {
        case .success: return nil
        case .failure(.missing):
            return """
                logo "\(name)" is neither in \(path) nor among the uploaded logos; put it there, or add it with \
                herald-directory logo add
                """
        case .failure(.unreadable(let text)): reason = "cannot be read: \(text)"
        case .failure(.tooLarge): reason = "has more than \(LogoStore.limit) bytes"
        case .failure(.badType): reason = "is neither a PNG nor a JPEG"
        }
        return "logo \"\(name)\" cannot be served: \(path)/\(name) \(reason)"
    }
}
