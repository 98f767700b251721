// SPDX-License-Identifier: Apache-2.0

/// One address the gateway listens on, as peers are told of it in Via and Record-Route (RFC 3261 §18.1.1, §16.6).
package final class LocalSocket: Sendable {
    /// Position in the list of listening sockets; what the transport sends by.
    package let position: Int
    /// The bound address.
    package let address: PeerAddress
    /// What it speaks.
    package let transport: SIPTransportKind
    /// `host:port` as written into headers: the advertised address, or the bound one.
    package let sentBy: [UInt8]
    /// A Via of it up to its branch.
    let viaStart: [UInt8]
    private let advertisedHost: [UInt8]
    private let advertisedPort: UInt16
    /// The advertised address where it is a literal.
    private let advertised: PeerAddress?

    /// Names a socket; `advertisedHost` is an address literal or a host name.
    package init(
        position: Int, address: PeerAddress, transport: SIPTransportKind = .udp, advertisedHost: String? = nil,
        advertisedPort: UInt16? = nil
    ) {
        self.position = position
        self.address = address
        self.transport = transport
        let host = advertisedHost.map { $0.contains(":") && !$0.hasPrefix("[") ? "[\($0)]" : $0 } ?? address.hostText
        self.advertisedHost = Array(host.utf8)
        self.advertisedPort = advertisedPort ?? address.port
        advertised = PeerAddress(host: self.advertisedHost[...], port: self.advertisedPort)
        sentBy = Array("\(host):\(self.advertisedPort)".utf8)
        viaStart = Array("Via: SIP/2.0/\(transport.viaName) ".utf8) + sentBy + Array(";branch=".utf8)
    }

    /// Writes the URI by which later requests of a dialog come back to this socket (RFC 3261 §16.6 step 4).
    package func appendURI(to out: inout [UInt8]) {
        out.append("sip:")
        out.append(contentsOf: sentBy)
        if transport != .udp {
            out.append(";transport=")
            out.append(transport == .tls ? "tls" : "tcp")
        }
        out.append(";lr")
    }

    /// True when a host and port out of a header name this socket; a missing port is the usual one (RFC 3261 §19.1.2).
    package func isNamed(host: ArraySlice<UInt8>, port: UInt16?) -> Bool {
        let port = port ?? transport.defaultPort
        guard port == advertisedPort || port == address.port else { return false }
        if port == advertisedPort, host.equalsIgnoringCase(advertisedHost[...]) { return true }
        guard let literal = PeerAddress(host: host, port: port) else { return false }
        return literal == address || literal == advertised
    }
}
