// SPDX-License-Identifier: Apache-2.0

package import SIPCore

/// A next hop as it is configured: a host by name or address, perhaps a port, and the transport to reach it by.
package struct NextHopName: Hashable, Sendable {
    /// In lower case and without a dot at the end, so that two spellings of one name are equal.
    ///
    /// A name is complete: no search list is applied to it. An address literal is allowed, IPv6 with or without brackets.
    package let host: String
    /// Nil: the name's SRV records say the port, or the transport's default stands.
    package let port: UInt16?
    package let transport: SIPTransportKind

    package init(host: String, port: UInt16?, transport: SIPTransportKind) {
        let lowered = host.lowercased()
        self.host = lowered.hasSuffix(".") ? String(lowered.dropLast()) : lowered
        self.port = port
        self.transport = transport
    }

    /// The name whose SRV records tell where the service is (RFC 3263 §4.2).
    var serviceName: String {
        switch transport {
        case .udp: "_sip._udp.\(host)"
        case .tcp: "_sip._tcp.\(host)"
        // "if the client wishes to use TLS, it also uses the service identifier "_sips" for that specific transport"
        case .tls: "_sips._tcp.\(host)"
        }
    }

    /// The literal with the port to use; nil for a name.
    var literal: PeerAddress? { PeerAddress(host: Array(host.utf8)[...], port: port ?? transport.defaultPort) }
}

extension NextHopName: CustomStringConvertible {
    /// `pbx.example.net:5080 over TCP`.
    package var description: String { "\(host)\(port.map { ":\($0)" } ?? "") over \(transport.viaName)" }
}

/// One address a next hop's name stands for.
package struct ResolvedHop: Hashable, Sendable {
    package let address: PeerAddress
    /// The smaller is tried first (RFC 2782); 0 without SRV records.
    package let priority: Int
    /// The share among hops of one priority (RFC 2782); 0 without SRV records.
    package let weight: Int

    package init(address: PeerAddress, priority: Int, weight: Int) {
        self.address = address
        self.priority = priority
        self.weight = weight
    }
}

/// Which addresses may be used.
package struct AddressFamilies: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let ipv4 = AddressFamilies(rawValue: 1)
    package static let ipv6 = AddressFamilies(rawValue: 2)
}
