// SPDX-License-Identifier: Apache-2.0

/// The source, socket or connection of a received message, for the way of its response (RFC 3261 §18.2.2).
public struct Flow: Sendable {
    /// The far end.
    public var source: PeerAddress
    /// Position of the receiving local socket.
    public var socket: Int
    /// The stream connection of the message; 0 for datagrams.
    public var connection: UInt64
    /// The verified certificate of the far end; nil without one.
    public var certificate: PeerCertificate?
    /// The fault of its framing: the stream ends with it, and a request in it is rejected.
    public var fault: StreamFault?

    public init(
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
    public var returnAddress: PeerAddress { connection == 0 ? source : source.with(port: 0) }
}

/// The names in a peer's verified certificate; one object a connection (RFC 5922 §7.1).
public final class PeerCertificate: Sendable {
    /// Host names and the hosts of SIP URIs, in lower case.
    public let names: [String]

    public init(names: [String]) { self.names = names.map { $0.lowercased() } }
}

/// The next hop of a request: an address and the local socket to send from.
public struct NextHop: Hashable, Sendable {
    public var address: PeerAddress
    public var socket: Int
    /// True for TCP and TLS.
    public var isReliable: Bool
    /// The stream connection to use while it is open; 0 for any to the address.
    public var connection: UInt64

    public init(address: PeerAddress, socket: Int, isReliable: Bool = false, connection: UInt64 = 0) {
        self.address = address
        self.socket = socket
        self.isReliable = isReliable
        self.connection = connection
    }
}
