// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import NIOCore
import NIOSSL

/// How requests reach a foreign host: time limits, authorities, and an address in place of the name.
struct HostLimits: Sendable {
    /// The longest time for a connection.
    let connect: Duration
    /// The longest time for everything, from the name to the last byte.
    let total: Duration
    /// Authorities of web servers; nil for those of the system.
    let roots: [NIOSSLCertificate]?

    /// The settings of a client whose connections go to a checked address of the host, without redirects.
    func configuration(_ host: String, _ target: HostAddress) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.dnsOverride = [host: "\(target)"]
        configuration.timeout = .init(connect: TimeAmount(connect), read: TimeAmount(total))
        configuration.connectionPool.retryConnectionEstablishment = false
        if let roots {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(roots)
            configuration.tlsConfiguration = tls
        }
        return configuration
    }
}
