// SPDX-License-Identifier: Apache-2.0

extension HeraldConfiguration {
    /// TLS of the admin port, the login of its pages, and their address for people.
    package struct AdminAccess: Hashable, Sendable {
        /// Certificate files; nil for HTTP without TLS.
        package var tls: TLSFiles?
        /// The token that opens the pages; nil for pages without login.
        package var token: ConfiguredSecret?
        /// The URL of the first page as people open it, without a trailing slash; nil for none.
        package var publicURL: String?
    }

    /// The URL in front of links to pages; nil where there are no pages, or no address for people.
    package var pagesURL: String? { admin == nil ? nil : adminAccess.publicURL }

    /// The access to the pages of the admin port.
    package enum PageAccess: Hashable, Sendable {
        /// Without login: the address is on loopback.
        case thisMachine
        case token(ConfiguredSecret, isSecure: Bool)
        /// Closed; the text has cause and remedy.
        case off(String)
    }

    /// The access to the pages, by address, TLS and token.
    package var pageAccess: PageAccess {
        let isLocal = admin?.isLoopback ?? true
        if let token = adminAccess.token, isLocal || adminAccess.tls != nil {
            return .token(token, isSecure: adminAccess.tls != nil)
        }
        if isLocal { return .thisMachine }
        var missing: [String] = []
        if adminAccess.tls == nil { missing.append("admin.tls (certificate and key)") }
        if adminAccess.token == nil { missing.append("admin.token_file") }
        let port = admin?.port ?? 9470
        return .off(
            """
            The pages are off, because admin.listen is \(admin.map(\.description) ?? ""), an address that other machines can \
            reach. To turn them on, set \(missing.joined(separator: " and ")) and reload herald. Or set admin.listen: \
            127.0.0.1:\(port), and reach the pages from your machine with ssh -L \(port):127.0.0.1:\(port).
            """)
    }
}

extension HeraldSchema {
    /// The fewest bytes of a token; a shorter one can be guessed.
    static let shortestToken = 16

    /// Reads `tls`, `token_file`, `token_env` and `public_url` of the section `admin`.
    func adminAccess(_ section: ConfigurationSection) -> HeraldConfiguration.AdminAccess {
        let tls = section.section("tls") { tls in
            HeraldConfiguration.TLSFiles(certificate: path(tls, "certificate"), key: path(tls, "key"))
        }
        let publicURL = section.string("public_url", form: URLForm.pages, URLForm.isFitForHeader)
        return HeraldConfiguration.AdminAccess(
            tls: tls, token: token(section),
            publicURL: publicURL.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 })
    }

    private func path(_ tls: ConfigurationSection, _ key: String) -> String {
        guard let path = tls.string(key).map(file.resolved) else {
            tls.missing(key, "/etc/herald/admin-\(key).pem")
            return ""
        }
        tls.checkReadable(key, path)
        return path
    }

    private func token(_ section: ConfigurationSection) -> ConfiguredSecret? {
        // All keys are read, so that none of them counts as unknown.
        let hasToken = [section.has("token"), section.has("token_file"), section.has("token_env")].contains(true)
        guard hasToken, let token = SecretSchema(file: file).read(section, "token", secrets: secrets) else {
            return nil
        }
        if token.reveal().utf8.count < Self.shortestToken {
            section.problem(
                section.has("token_file") ? "token_file" : "token_env",
                "contains a token of fewer than \(Self.shortestToken) characters, which can be guessed; write one with "
                    + "`openssl rand -hex 16`")
        }
        return token
    }
}
