// SPDX-License-Identifier: Apache-2.0

import Primitives
package import SIPCore

// Reads `doors.redirect`.

extension HeraldConfiguration.Doors {
    /// Names by SIP: a redirect server for INVITEs.
    package struct Redirect: Hashable, Sendable {
        /// The status for a caller without a brand, by which a client goes on as it would without Herald.
        package enum Unbranded: String, ConfigurationWord, Sendable {
            case notFound = "404"
            case serviceUnavailable = "503"
        }

        package var listen: EndpointAddress
        /// Name of the trunk whose rules apply.
        package var trunk: String
        /// The clients that get names; at least one range.
        package var allow: [SourceRange]
        /// The place of a name in a response.
        package var nameIn = Redirection.NamePlace.assertedIdentity
        /// The clients that take a name in another place; the narrowest range counts.
        package var clients: [SourceRange: Redirection.NamePlace] = [:]
        package var unbranded = Unbranded.notFound
        /// Requests a second of one source.
        package var rate = 1_000

        package init(listen: EndpointAddress, trunk: String, allow: [SourceRange]) {
            (self.listen, self.trunk, self.allow) = (listen, trunk, allow)
        }

        /// The entries of `clients` that no range of `allow` has, and which have no effect.
        package var idleClients: [SourceRange] {
            clients.keys.filter { client in !allow.contains { $0.contains(client) } }
                .sorted { $0.description < $1.description }
        }
    }
}

extension SourceRange {
    /// Whether all addresses of another range are in this one.
    fileprivate func contains(_ other: SourceRange) -> Bool {
        guard isIPv6 == other.isIPv6, prefixLength <= other.prefixLength, let own = AddressBytes(host),
            let address = AddressBytes(other.host)
        else { return false }
        return AddressBytes.agree(address.bytes, own.bytes, bits: prefixLength)
    }
}

extension Redirection.NamePlace {
    /// The place as the file writes it: the name of a header field.
    package var word: String {
        switch self {
        case .assertedIdentity: "P-Asserted-Identity"
        case .contact: "Contact"
        case .header(let name): name
        }
    }

    fileprivate static func read(_ text: String) throws(AddressProblem) -> Redirection.NamePlace {
        switch text.lowercased() {
        case "p-asserted-identity": return .assertedIdentity
        case "contact": return .contact
        case let name:
            let isToken = name.utf8.allSatisfy {
                (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
            }
            guard isToken, name.hasPrefix("x-"), (3...64).contains(name.utf8.count) else {
                throw .unfit("\"\(text)\" must be P-Asserted-Identity, Contact, or a header name that begins with X-")
            }
            return .header(text)
        }
    }
}

extension HeraldSchema {
    /// The default address of the redirect door.
    private static let redirect = EndpointAddress(host: "127.0.0.1", port: 9484, isIPv6: false)

    /// Reads the section `doors.redirect`.
    ///
    /// - Parameter taken: addresses of other sockets for datagrams, with their keys.
    func redirect(
        _ section: ConfigurationSection, _ trunks: [HeraldConfiguration.Trunk],
        taken: [(key: String, address: EndpointAddress)]
    ) -> HeraldConfiguration.Doors.Redirect? {
        let listen = section.parsed("listen") { text throws(AddressProblem) in
            try EndpointAddress.read(text, defaultPort: Self.redirect.port)
        }
        let address = listen ?? Self.redirect
        if address.isWildcard {
            section.problem("listen", "must be one address: a response must leave from the address of its request")
        }
        for (key, other) in taken where address.port != 0 && other == address {
            section.problem("listen", "\(address) is also that of \(key); write another port")
        }
        let allow = clients(section, of: address)
        let trunk = doorTrunk(section, among: trunks)
        let nameIn = section.parsed("name_in") { text throws(AddressProblem) in
            try Redirection.NamePlace.read(text)
        }
        let clients = placesByClient(section)
        let unbranded = section.choice("unbranded", default: HeraldConfiguration.Doors.Redirect.Unbranded.notFound)
        let rate = section.integer("rate", default: 1_000, in: 1...100_000)
        guard let trunk else { return nil }
        var door = HeraldConfiguration.Doors.Redirect(listen: address, trunk: trunk, allow: allow)
        (door.nameIn, door.clients) = (nameIn ?? door.nameIn, clients)
        (door.unbranded, door.rate) = (unbranded, rate)
        return door
    }

    private func placesByClient(_ section: ConfigurationSection) -> [SourceRange: Redirection.NamePlace] {
        let places = section.named("clients", example: "{192.0.2.21: Contact}") { text throws(AddressProblem) in
            try Redirection.NamePlace.read(text)
        }
        var clients: [SourceRange: Redirection.NamePlace] = [:]
        for (text, place) in places.sorted(by: { $0.key < $1.key }) {
            do {
                clients[try SourceRange.read(text)] = place
            } catch {
                section.problem("clients", "\(error)")
            }
        }
        return clients
    }
}
