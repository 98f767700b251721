// SPDX-License-Identifier: Apache-2.0

/// Reads `admin` of `herald-directory.yaml`.
enum AdminSchema {
    static func read(_ section: ConfigurationSection, _ file: ConfigurationFile, into all: inout DirectoryConfiguration)
    {
        let isEnabled = section.bool("enabled", default: true)
        let address = section.parsed("listen") { text throws(AddressProblem) in
            try EndpointAddress.read(text, defaultPort: 8089)
        }
        if isEnabled {
            all.admin = address.flatMap { $0 == all.listen ? nil : .at($0) } ?? .beside
        } else {
            all.admin = .off
        }
        all.pages.isEnabled = section.bool("pages", default: true)
        all.pages.isBehindTLSProxy = section.bool("tls_proxy", default: false)
        section.within("tls") { tls in
            let (certificate, key) = (tls.string("certificate"), tls.string("key"))
            guard let certificate, let key else {
                tls.problem(certificate == nil ? "certificate" : "key", "is missing; TLS needs certificate and key")
                return
            }
            all.pages.tls = .init(certificate: file.resolved(certificate), key: file.resolved(key))
        }
        if all.pages.tls != nil, isEnabled, all.admin == .beside {
            section.problem("tls", "needs admin.listen, because the address of listen has no TLS")
        }
        if section.has("pages"), all.pages.isEnabled, isEnabled, all.pages.access(at: all.adminHost) == .off {
            section.problem("pages", "\(all.pages.remedy(at: all.adminHost)), or write pages: false")
        }
    }
}

extension DirectoryConfiguration {
    /// The operator's pages and the protection of their address.
    package struct Pages: Hashable, Sendable {
        package var isEnabled = true
        package var tls: TLS?
        /// True if a reverse proxy with TLS is in front of the operator's address.
        package var isBehindTLSProxy = false

        /// Absolute paths of PEM files.
        package struct TLS: Hashable, Sendable {
            package let certificate: String
            package let key: String
        }

        package enum Access: Hashable, Sendable {
            case off
            /// Plain HTTP on this machine.
            case loopback
            /// TLS of the server or of a proxy.
            case secure
        }

        /// The access that an operator's address allows; without TLS only loopback has pages.
        package func access(at host: String) -> Access {
            guard isEnabled else { return .off }
            if tls != nil || isBehindTLSProxy { return .secure }
            return host.hasPrefix("127.") || host == "::1" ? .loopback : .off
        }

        /// The reason for which an address has no pages, with the remedy.
        package func remedy(at host: String) -> String {
            "\(host) is no loopback address and has no TLS; set admin.tls, or admin.tls_proxy behind a reverse proxy with TLS"
        }
    }

    /// The host of the operator's address.
    package var adminHost: String {
        if case .at(let address) = admin { address.host } else { listen.host }
    }
}
