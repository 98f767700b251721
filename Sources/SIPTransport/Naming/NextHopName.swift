// SPDX-License-Identifier: Apache-2.0

public import SIPCore

/// A configured next hop: a host by name or address, an optional port, and a transport.
public struct NextHopName: Hashable, Sendable {
    /// In lower case and without a final dot, so that two spellings of one name are equal.
    ///
    /// Names must be complete, because no search list applies. Also an address, IPv6 with or without brackets.
    public let host: String
    /// Nil: the port comes from the name's SRV records, else it is the transport's default.
    public let port: UInt16?
    public let transport: SIPTransportKind

    public init(host: String, port: UInt16?, transport: SIPTransportKind) {
        let lowered = host.lowercased()
        self.host = lowered.hasSuffix(".") ? String(lowered.dropLast()) : lowered
        self.port = port
        self.transport = transport
    }

    /// The name of the SRV records of the service (RFC 3263 §4.2).
    var serviceName: String {
        switch transport {
        case .udp: "_sip._udp.\(host)"
        case .tcp: "_sip._tcp.\(host)"
        // "if the client wishes to use TLS, it also uses the service identifier "_sips" for that specific transport"
        case .tls: "_sips._tcp.\(host)"
        }
    }

    /// The address literal with its port; nil for a name.
    var literal: PeerAddress? { PeerAddress(host: Array(host.utf8)[...], port: port ?? transport.defaultPort) }
}

extension NextHopName: CustomStringConvertible {
    /// `pbx.example.net:5080 over TCP`.
    public var description: String { "\(host)\(port.map { ":\($0)" } ?? "") over \(transport.viaName)" }
}

/// One address of a next hop's name.
public struct ResolvedHop: Hashable, Sendable {
    public let address: PeerAddress
    /// Smaller priorities are tried first (RFC 2782); 0 without SRV records.
    public let priority: Int
    /// Share among hops of one priority (RFC 2782); 0 without SRV records.
    public let weight: Int

    public init(address: PeerAddress, priority: Int, weight: Int) {
        self.address = address
        self.priority = priority
        self.weight = weight
    }
}

/// The permitted address families.
public struct AddressFamilies: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let ipv4 = AddressFamilies(rawValue: 1)
    public static let ipv6 = AddressFamilies(rawValue: 2)
}
