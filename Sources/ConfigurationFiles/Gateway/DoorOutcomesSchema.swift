// SPDX-License-Identifier: Apache-2.0

// Reads `doors.outcomes`.

extension HeraldConfiguration.Doors {
    /// Reports of calls by a PBX that got their names by a door.
    package struct Outcomes: Hashable, Sendable {
        package var listen: EndpointAddress
        /// Name of the trunk whose rules apply.
        package var trunk: String
        /// The clients whose reports count; at least one range.
        package var allow: [SourceRange]
        /// Reports a second of one client.
        package var rate: Int
    }
}

extension HeraldSchema {
    /// The default address of reports.
    private static let outcomes = EndpointAddress(host: "127.0.0.1", port: 9486, isIPv6: false)

    /// Reads the section `doors.outcomes`.
    ///
    /// - Parameter naming: the trunks by whose rules doors give names.
    func doorOutcomes(
        _ section: ConfigurationSection, _ trunks: [HeraldConfiguration.Trunk], naming: [String?]
    ) -> HeraldConfiguration.Doors.Outcomes? {
        let listen = section.parsed("listen") { text throws(AddressProblem) in
            try EndpointAddress.read(text, defaultPort: Self.outcomes.port)
        }
        let address = listen ?? Self.outcomes
        let allow = clients(section, of: address, lack: "no report would count")
        let rate = section.integer("rate", default: 200, in: 1...100_000)
        guard let trunk = doorTrunk(section, among: trunks) else { return nil }
        if !naming.contains(trunk) {
            section.problem(
                "trunk",
                "no door gives names by the rules of trunk \(trunk): add doors.names for it, or no reported call has a brand"
            )
        }
        return .init(listen: address, trunk: trunk, allow: allow, rate: rate)
    }
}
