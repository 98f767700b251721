// SPDX-License-Identifier: Apache-2.0

package import SIPCore

/// A configured next hop: host name or address, optional port, and transport.
package struct NextHopName: Hashable, Sendable {
    /// Host in lower case without a trailing dot, so that equal names compare as equal.
    ///
    /// Names must be complete, because no search list applies. Also an address, IPv6 with or without brackets.
    package let host: String
    /// Nil means the port of the SRV records, or else the transport's default port.
    package let port: UInt16?
    package let transport: SIPTransportKind

    package init(host: String, port: UInt16?, transport: SIPTransportKind) {
        let lowered = host.lowercased()
        self.host = lowered.hasSuffix(".") ? String(lowered.dropLast()) : lowered
        self.port = port
        self.transport = transport
    }

    /// The name of the SRV records (RFC 3263 §4.2).
    var serviceName: String {
        switch transport {
        case .udp: "_sip._udp.\(host)"
        case .tcp: "_sip._tcp.\(host)"
        // "if the client wishes to use TLS, it also uses the service identifier "_sips" for that specific transport"
        case .tls: "_sips._tcp.\(host)"
        }
    }

    /// The address with its port; nil for a host name.
    var literal: PeerAddress? { PeerAddress(host: Array(host.utf8)[...], port: port ?? transport.defaultPort) }
}

extension NextHopName: CustomStringConvertible {
    /// `pbx.example.net:5080 over TCP`.
    package var description: String { "\(host)\(port.map { ":\($0)" } ?? "") over \(transport.viaName)" }
}

/// One address of a next hop.
package struct ResolvedHop: Hashable, Sendable {
    package let address: PeerAddress
    /// SRV priority; the lowest is tried first (RFC 2782).
    ///
    /// 0 without SRV records.
    package let priority: Int
    /// SRV weight within a priority (RFC 2782).
    ///
    /// 0 without SRV records.
    package let weight: Int

    package init(address: PeerAddress, priority: Int, weight: Int) {
        self.address = address
        self.priority = priority
        self.weight = weight
    }
}

/// Address families to look up.
package struct AddressFamilies: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let ipv4 = AddressFamilies(rawValue: 1)
    package static let ipv6 = AddressFamilies(rawValue: 2)
}
