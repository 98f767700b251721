// SPDX-License-Identifier: Apache-2.0

package import Branding

// Reads `doors.enum`.

extension HeraldConfiguration.Doors {
    /// Calling names by ENUM: a name server of one zone.
    package struct CallingNames: Hashable, Sendable {
        /// The response for a number without a brand.
        package enum Unbranded: String, ConfigurationWord, Sendable {
            /// No record, so a client leaves the call as it is.
            case none
            /// A record with `unavailable`.
            case unavailable
        }

        package var listen: EndpointAddress
        /// Name of the trunk whose rules apply.
        package var trunk: String
        /// The clients that get names; at least one range.
        package var allow: [SourceRange]
        package var zone: ZoneName
        /// For which a resolver keeps a response; 0 to 60 s.
        package var ttl = Duration.zero
        /// Queries a second of one source.
        package var rate = 200
        package var unbranded = Unbranded.none
        package var umlauts = CallingName.Umlauts.plain
        /// The URI of a name, with `{name}`.
        package var uri = CallingNameURI.usualName
        /// The URI of a missing name, with `{reason}`.
        package var unavailableURI = CallingNameURI.usualUnavailable
        /// Names in place of display names, by the identifier of the brand.
        package var shortNames: [String: CallingName] = [:]

        package init(listen: EndpointAddress, trunk: String, allow: [SourceRange], zone: ZoneName) {
            (self.listen, self.trunk) = (listen, trunk)
            (self.allow, self.zone) = (allow, zone)
        }
    }
}

extension HeraldSchema {
    /// The default address of calling names.
    private static let callingNames = EndpointAddress(host: "127.0.0.1", port: 9483, isIPv6: false)

    /// Reads the section `doors.enum`.
    func callingNames(
        _ section: ConfigurationSection, _ trunks: [HeraldConfiguration.Trunk]
    ) -> HeraldConfiguration.Doors.CallingNames? {
        let listen = section.parsed("listen") { text throws(AddressProblem) in
            try EndpointAddress.read(text, defaultPort: Self.callingNames.port)
        }
        let address = listen ?? Self.callingNames
        if address.isWildcard {
            section.problem("listen", "must be one address: a response must leave from the address of its query")
        }
        if !section.has("zone") { section.missing("zone", "cnam.example.net") }
        let zone = section.parsed("zone") { text throws(AddressProblem) in
            guard let zone = ZoneName(text) else {
                throw .unfit(
                    "must be a name of two or more labels, such as cnam.example.net, of at most \(ZoneName.longest) bytes"
                )
            }
            return zone
        }
        let allow = clients(section, of: address)
        let trunk = doorTrunk(section, among: trunks)
        let ttl = section.duration("ttl", default: .zero, in: .zero ... .seconds(60))
        let rate = section.integer("rate", default: 200, in: 1...100_000)
        let unbranded = section.choice("unbranded", default: HeraldConfiguration.Doors.CallingNames.Unbranded.none)
        let umlauts = section.choice("umlauts", default: CallingName.Umlauts.plain)
        let uri = form(section, "uri", CallingNameURI.nameMark)
        let unavailable = form(section, "unavailable_uri", CallingNameURI.reasonMark)
        let shortNames = shortNames(section)
        guard let zone, let trunk else { return nil }
        var door = HeraldConfiguration.Doors.CallingNames(listen: address, trunk: trunk, allow: allow, zone: zone)
        (door.ttl, door.rate, door.unbranded, door.umlauts) = (ttl, rate, unbranded, umlauts)
        (door.uri, door.unavailableURI) = (uri ?? door.uri, unavailable ?? door.unavailableURI)
        door.shortNames = shortNames
        return door
    }

    private func shortNames(_ section: ConfigurationSection) -> [String: CallingName] {
        section.named("short_names", example: "{harbour: HARBOUR DENTAL}") { text throws(AddressProblem) in
            guard let name = CallingName(text), name.text == text else {
                throw .unfit("\"\(text)\" must be 1 to \(CallingName.longest) characters of ASCII with single blanks")
            }
            return name
        }
    }

    private func form(_ section: ConfigurationSection, _ key: String, _ mark: String) -> String? {
        section.parsed(key) { text throws(AddressProblem) in
            guard CallingNameURI.isForm(text, with: mark) else {
                throw .unfit(
                    "must be a URI of at most \(CallingNameURI.longest) bytes with \(mark) once, without blanks, quotes, ! and \\"
                )
            }
            return text
        }
    }
}
