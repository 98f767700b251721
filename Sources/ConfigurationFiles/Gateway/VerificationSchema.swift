// SPDX-License-Identifier: Apache-2.0

// Reads `doors.verification`.

extension HeraldConfiguration.Doors {
    /// Verifications of signed calls for an SBC: a Secure Telephone Identity Verification Service (ATIS-1000074).
    package struct Verification: Hashable, Sendable {
        /// The spelling of the reason's members in the shape of ATIS-1000082.
        package enum ReasonKeys: String, ConfigurationWord, Sendable {
            /// `reasonCode`, as Oracle's SBC reads them.
            case camel
            /// `reasoncode`.
            case lower
        }

        package var listen: EndpointAddress
        /// Name of the trunk whose rules apply.
        package var trunk: String
        /// The clients that are served; at least one range.
        package var allow: [SourceRange]
        /// The path before `/v1/verification`; empty for none.
        package var base = ""
        package var reasonKeys = ReasonKeys.camel

        package init(listen: EndpointAddress, trunk: String, allow: [SourceRange]) {
            (self.listen, self.trunk, self.allow) = (listen, trunk, allow)
        }

        /// The path of requests.
        package var path: String { base + "/v1/verification" }
    }
}

extension HeraldSchema {
    /// The default address of verifications.
    private static let verification = EndpointAddress(host: "127.0.0.1", port: 9485, isIPv6: false)

    /// Reads the section `doors.verification`.
    func verification(
        _ section: ConfigurationSection, _ trunks: [HeraldConfiguration.Trunk]
    ) -> HeraldConfiguration.Doors.Verification? {
        let listen = section.parsed("listen") { text throws(AddressProblem) in
            try EndpointAddress.read(text, defaultPort: Self.verification.port)
        }
        let address = listen ?? Self.verification
        let allow = clients(section, of: address, lack: "nobody would get a verification")
        let trunk = doorTrunk(section, among: trunks)
        let base = section.parsed("base") { text throws(AddressProblem) in try Self.base(text) }
        let keys = section.choice("reason_keys", default: HeraldConfiguration.Doors.Verification.ReasonKeys.camel)
        if !root.has("trust") {
            section.problem("trunk", "needs a section trust with its regimes; see docs/trust.md")
        }
        guard let trunk else { return nil }
        var door = HeraldConfiguration.Doors.Verification(listen: address, trunk: trunk, allow: allow)
        (door.base, door.reasonKeys) = (base ?? door.base, keys)
        return door
    }

    /// A path without a slash at its end.
    private static func base(_ text: String) throws(AddressProblem) -> String {
        let base = text.hasSuffix("/") ? String(text.dropLast()) : text
        let isPath =
            base.isEmpty
            || base.first == "/" && !base.contains("//") && base.utf8.count <= 200
                && base.utf8.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                    default: "/-._~".utf8.contains(byte)
                    }
                }
        guard isPath else {
            throw .unfit("must be a path such as /StirShakenWeb/resources, of letters, digits and -._~")
        }
        return base
    }
}
