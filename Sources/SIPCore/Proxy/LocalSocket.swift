// SPDX-License-Identifier: Apache-2.0

/// One listening address of the gateway, as Via and Record-Route show it (RFC 3261 §18.1.1, §16.6).
package final class LocalSocket: Sendable {
    /// Position in the list of listening sockets, by which the transport sends.
    package let position: Int
    /// The bound address.
    package let address: PeerAddress
    /// Its transport.
    package let transport: SIPTransportKind
    /// `host:port` as written into headers: the advertised address, or the bound one.
    package let sentBy: [UInt8]
    /// A Via of it up to its branch.
    let viaStart: [UInt8]
    private let advertisedHost: [UInt8]
    private let advertisedPort: UInt16
    /// The advertised address where it is a literal.
    private let advertised: PeerAddress?
    /// Further names of it.
    private let names: [OwnName]

    /// Names a socket.
    ///
    /// - Parameters:
    ///   - advertisedHost: an address literal or a host name, written into Via and Record-Route.
    ///   - names: further names of the socket in Route and Request-URI.
    package init(
        position: Int, address: PeerAddress, transport: SIPTransportKind = .udp, advertisedHost: String? = nil,
        advertisedPort: UInt16? = nil, names: [OwnName] = []
    ) {
        self.names = names
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
        if !names.isEmpty, isCalled(host, port) { return true }
        let port = port ?? transport.defaultPort
        guard port == advertisedPort || port == address.port else { return false }
        if port == advertisedPort, HostName.same(host, advertisedHost[...]) { return true }
        guard let literal = PeerAddress(host: host, port: port) else { return false }
        return literal == address || literal == advertised
    }

    /// True when the host is one of the socket's names.
    ///
    /// A name without port matches every port of the socket. It also matches a host without port: SRV records may map
    /// that to any port (RFC 3263 §4.2).
    private func isCalled(_ host: ArraySlice<UInt8>, _ port: UInt16?) -> Bool {
        names.contains { name in
            guard HostName.same(host, name.host[...]) else { return false }
            guard let own = name.port else { return port == nil || port == address.port || port == advertisedPort }
            return port ?? transport.defaultPort == own
        }
    }
}

/// A name by which peers reach the gateway (RFC 3261 §16.4).
package struct OwnName: Hashable, Sendable {
    let host: [UInt8]
    /// Nil for every port of the socket.
    let port: UInt16?

    /// - Parameter host: a host name or an address literal, IPv6 without brackets.
    package init(host: String, port: UInt16?) {
        self.host = Array(host.utf8)
        self.port = port
    }
}

/// Host names as they compare: without case, and the same with the dot of a complete name (RFC 3261 §19.1.4, RFC 1034 §3.1).
package enum HostName {
    package static func same(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        one.equalsIgnoringCase(other) || withoutDot(one).equalsIgnoringCase(withoutDot(other))
    }

    private static func withoutDot(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        name.count > 1 && name.last == UInt8(ascii: ".") ? name.dropLast() : name
    }
}
