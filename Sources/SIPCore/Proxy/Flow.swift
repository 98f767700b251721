// SPDX-License-Identifier: Apache-2.0

/// The source, socket or connection of a received message, for the way of its response (RFC 3261 §18.2.2).
package struct Flow: Sendable {
    /// The far end.
    package var source: PeerAddress
    /// Position of the receiving local socket.
    package var socket: Int
    /// The stream connection of the message; 0 for datagrams.
    package var connection: UInt64
    /// The verified certificate of the far end; nil without one.
    package var certificate: PeerCertificate?
    /// The fault of its framing: the stream ends with it, and a request in it is rejected.
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
    /// The address of the sender itself.
    ///
    /// Port 0 for a stream: its source port is ephemeral, and nobody listens there once it is closed (RFC 3261 §18.2.2).
    package var returnAddress: PeerAddress { connection == 0 ? source : source.with(port: 0) }
}

/// The names in a peer's verified certificate; one object a connection (RFC 5922 §7.1).
package final class PeerCertificate: Sendable {
    /// Host names and the hosts of SIP URIs, in lower case.
    package let names: [String]

    package init(names: [String]) { self.names = names.map { $0.lowercased() } }
}

/// The next hop of a request: an address and the local socket to send from.
package struct NextHop: Hashable, Sendable {
    package var address: PeerAddress
    package var socket: Int
    /// True for TCP and TLS.
    package var isReliable: Bool
    /// The stream connection to use while it is open; 0 for any to the address.
    package var connection: UInt64

    package init(address: PeerAddress, socket: Int, isReliable: Bool = false, connection: UInt64 = 0) {
        self.address = address
        self.socket = socket
        self.isReliable = isReliable
        self.connection = connection
    }
}
