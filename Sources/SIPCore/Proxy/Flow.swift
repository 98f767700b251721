// SPDX-License-Identifier: Apache-2.0

/// The way one message came by, which its answer goes back by (RFC 3261 §18.2.2).
package struct Flow: Sendable {
    /// The far end.
    package var source: PeerAddress
    /// Position of the local socket it came in by.
    package var socket: Int
    /// The stream connection it came in by; 0 for datagrams.
    package var connection: UInt64
    /// Who the far end proved to be; nil without a client certificate.
    package var certificate: PeerCertificate?
    /// What was wrong with its framing: the stream ends with it, and a request in it is refused.
    package var fault: StreamFault?

    package init(
        source: PeerAddress, socket: Int, connection: UInt64 = 0, certificate: PeerCertificate? = nil,
        fault: StreamFault? = nil
    ) {
        self.source = source
        self.socket = socket
        self.connection = connection
        self.certificate = certificate
        self.fault = fault
    }
}

extension Flow {
    /// Where a message goes that leads nowhere but back to its sender.
    ///
    /// Port 0 for a stream: its far end chose a port for this one connection, and nobody listens there once that is closed
    /// (RFC 3261 §18.2.2).
    package var returnAddress: PeerAddress { connection == 0 ? source : source.with(port: 0) }
}

/// The names in a peer's verified certificate; one object a connection (RFC 5922 §7.1).
package final class PeerCertificate: Sendable {
    /// Host names and the hosts of SIP URIs, in lower case.
    package let names: [String]

    package init(names: [String]) { self.names = names.map { $0.lowercased() } }
}

/// Where a request goes next, and the local socket it leaves by.
package struct NextHop: Hashable, Sendable {
    package var address: PeerAddress
    package var socket: Int
    /// True for TCP and TLS.
    package var isReliable: Bool

    package init(address: PeerAddress, socket: Int, isReliable: Bool = false) {
        self.address = address
        self.socket = socket
        self.isReliable = isReliable
    }
}
