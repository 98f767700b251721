// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// Ends sessions whose secret has become invalid, such as a removed key.
package struct LoginTicket: Sendable {
    let text: @Sendable (_ secret: String) -> String
    let isValid: @Sendable (_ text: String) async throws -> Bool

    /// - Parameters:
    ///   - text: derives the text that the session keeps in memory; a hash, so that no session has the secret.
    ///   - isValid: asked before each page; an error keeps the session.
    package init(
        text: @escaping @Sendable (_ secret: String) -> String,
        isValid: @escaping @Sendable (_ text: String) async throws -> Bool
    ) {
        self.text = text
        self.isValid = isValid
    }
}

/// The origin of the secret, shown below the login.
package struct LoginHelp: Hashable, Sendable {
    let text: String
    /// The command that makes a secret, for a person to copy whole; nil without one.
    let command: String?

    package init(_ text: String, command: String? = nil) { (self.text, self.command) = (text, command) }
}

/// The access to the pages of a site.
package enum PageAccess: Sendable {
    /// Everybody on this machine. Only for servers on a loopback address.
    case loopback
    /// Nobody; every page shows this text, which explains how to open the site.
    case off(String)
    /// Holders of a secret. The check gets the secret as typed and the client's address.
    case login(
        label: String, isSecure: Bool, check: @Sendable (_ secret: String, _ address: String) async throws -> Bool)

    /// Holders of one token.
    ///
    /// - Parameter isSecure: whether browsers reach the site by TLS.
    package static func token(_ token: String, isSecure: Bool) -> PageAccess {
        .login(label: "token", isSecure: isSecure) { typed, _ in PageSessions.isEqual(typed, token) }
    }

    var hasLogin: Bool {
        if case .login = self { true } else { false }
    }

    var isSecure: Bool {
        if case .login(_, let isSecure, _) = self { isSecure } else { false }
    }

    /// Whether a site accepts the `Host` of a request.
    ///
    /// A foreign page can make a browser send requests to a loopback port under its own name (DNS rebinding). It cannot
    /// make the browser write another name into `Host`.
    ///
    /// A site without TLS is on loopback. A name from elsewhere comes through a reverse proxy that nobody declared.
    func accepts(host: String?) -> Bool {
        if isSecure { return true }
        guard let host = host?.lowercased() else { return false }
        let name: Substring
        if host.hasPrefix("[") {
            name = host.prefix { $0 != "]" }.dropFirst()
        } else {
            name = host.prefix { $0 != ":" }
        }
        if name == "localhost" || name == "::1" { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether a request that changes something comes from the site's own pages, as far as the browser reports.
    static func isOwn(_ headers: HTTPFields, host: String?) -> Bool {
        if let name = HTTPField.Name("Sec-Fetch-Site"), let site = headers[name], site != "same-origin" { return false }
        if let origin = headers[.origin] {
            guard let host, origin == "http://" + host || origin == "https://" + host else { return false }
        }
        return true
    }
}
