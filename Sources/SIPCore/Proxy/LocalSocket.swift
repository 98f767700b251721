// SPDX-License-Identifier: Apache-2.0

/// One listening address of the gateway, as Via and Record-Route show it (RFC 3261 §18.1.1, §16.6).
public final class LocalSocket: Sendable {
    /// Position in the list of listening sockets, by which the transport sends.
    public let position: Int
    /// The bound address.
    public let address: PeerAddress
    /// Its transport.
    public let transport: SIPTransportKind
    /// `host:port` as written into headers: the advertised address, or the bound one.
    public let sentBy: [UInt8]
    /// A Via of it up to its branch.
    let viaStart: [UInt8]
    private let advertisedHost: [UInt8]
    private let advertisedPort: UInt16
    /// The advertised address where it is a literal.
    private let advertised: PeerAddress?
    /// Its URIs in Record-Route, the sip and the sips one.
    private let routeURI: [UInt8]
    private let secureRouteURI: [UInt8]
    /// Further names of it, and those of sibling gateways.
    private let names: [OwnName]

    /// Names a socket.
    ///
    /// - Parameters:
    ///   - advertisedHost: an address literal or a host name, written into Via and Record-Route.
    ///   - routesByName: leaves the port out of Record-Route, so that peers find a living node by SRV (RFC 3263 §4.1).
    ///   - names: further names of the socket in Route, Request-URI and Via.
    public init(
        position: Int, address: PeerAddress, transport: SIPTransportKind = .udp, advertisedHost: String? = nil,
        advertisedPort: UInt16? = nil, routesByName: Bool = false, names: [OwnName] = []
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
        let routeHost = routesByName ? Array(host.utf8) : sentBy
        let parameter = transport == .udp ? "" : transport == .tls ? ";transport=tls" : ";transport=tcp"
        routeURI = Array("sip:".utf8) + routeHost + Array("\(parameter);lr".utf8)
        secureRouteURI = Array("sips:".utf8) + routeHost + Array(";lr".utf8)
        viaStart = Array("Via: SIP/2.0/\(transport.viaName) ".utf8) + sentBy + Array(";branch=".utf8)
    }

    /// Writes the URI by which later requests of a dialog come back to this socket (RFC 3261 §16.6 step 4).
    ///
    /// - Parameter isSecure: writes a sips URI, which needs no transport parameter (RFC 3261 §26.2.2).
    public func appendURI(to out: inout [UInt8], isSecure: Bool = false) {
        out.append(contentsOf: isSecure ? secureRouteURI : routeURI)
    }

    /// True when a host and port out of a header name this socket; a missing port is the usual one (RFC 3261 §19.1.2).
    public func isNamed(host: ArraySlice<UInt8>, port: UInt16?) -> Bool {
        isAddressed(host, port ?? transport.defaultPort) || !names.isEmpty && isCalled(host, port)
    }

    private func isAddressed(_ host: ArraySlice<UInt8>, _ port: UInt16) -> Bool {
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
            guard name.isHost(host) else { return false }
            guard let own = name.port else { return port == nil || port == address.port || port == advertisedPort }
            return port ?? transport.defaultPort == own
        }
    }
}

extension [LocalSocket] {
    /// True when a host and port out of a header name one of them.
    public func areNamed(host: ArraySlice<UInt8>, port: UInt16?) -> Bool {
        contains { $0.isNamed(host: host, port: port) }
    }
}

/// A name by which peers reach the gateway (RFC 3261 §16.4).
public struct OwnName: Hashable, Sendable {
    let host: [UInt8]
    /// Nil for every port of the socket.
    let port: UInt16?
    /// The host where it is an address, which has several spellings.
    private let address: PeerAddress?

    /// - Parameter host: a host name or an address literal, IPv6 without brackets.
    public init(host: String, port: UInt16?) {
        self.host = Array(host.utf8)
        self.port = port
        address = PeerAddress(host: self.host[...], port: 0)
    }

    /// True when a host out of a header is this name or address.
    func isHost(_ text: ArraySlice<UInt8>) -> Bool {
        if HostName.same(text, host[...]) { return true }
        guard let address, let other = PeerAddress(host: text, port: 0) else { return false }
        return other == address
    }
}

/// Host names as they compare: without case, and the same with the dot of a complete name (RFC 3261 §19.1.4, RFC 1034 §3.1).
public enum HostName {
    public static func same(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        one.equalsIgnoringCase(other) || withoutDot(one).equalsIgnoringCase(withoutDot(other))
    }

    private static func withoutDot(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        name.count > 1 && name.last == UInt8(ascii: ".") ? name.dropLast() : name
    }
}
