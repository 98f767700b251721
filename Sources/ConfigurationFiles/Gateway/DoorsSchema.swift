// SPDX-License-Identifier: Apache-2.0

import Primitives
import SIPCore

extension HeraldConfiguration {
    /// The doors for systems that ask for names or verifications, because Herald is not in line with them.
    package struct Doors: Hashable, Sendable {
        /// Names by HTTP; nil disables that door.
        package var names: Names?
        /// Calling names by ENUM; nil disables that door.
        package var callingNames: CallingNames?
        /// Names by SIP redirection; nil disables that door.
        package var redirect: Redirect?
        /// Verifications of signed calls; nil disables that door.
        package var verification: Verification?
        /// Reports of the calls whose names doors gave; nil disables that door.
        package var outcomes: Outcomes?

        /// Names by HTTP.
        package struct Names: Hashable, Sendable {
            /// A parameter of a request that counts besides the caller's number.
            package enum Statement: String, ConfigurationWord, Sendable {
                /// The called number.
                case called
                /// The carrier's attestation.
                case verstat
            }

            package var listen: EndpointAddress
            /// Name of the trunk whose rules apply.
            package var trunk: String
            /// The clients that get names; at least one range.
            package var allow: [SourceRange]
            /// The parameters that the client writes itself; others are ignored.
            package var states: [Statement] = []
        }
    }
}

extension HeraldSchema {
    /// The default address of names by HTTP.
    private static let names = EndpointAddress(host: "127.0.0.1", port: 9482, isIPv6: false)
    /// The clients of a door on loopback that lists none.
    private static let thisMachine = [
        SourceRange(host: "127.0.0.0", isIPv6: false, prefixLength: 8, port: nil),
        SourceRange(host: "::1", isIPv6: true, prefixLength: 128, port: nil),
    ]

    /// Reads the `doors` section.
    ///
    /// - Parameters:
    ///   - taken: addresses of other HTTP servers with their keys.
    ///   - listeners: the addresses of calls.
    func doors(
        _ trunks: [HeraldConfiguration.Trunk], taken: KeyValuePairs<String, EndpointAddress?>,
        beside listeners: [HeraldConfiguration.Listener]
    ) -> HeraldConfiguration.Doors {
        var doors = HeraldConfiguration.Doors()
        root.within("doors") { section in
            doors.names = section.section("names") { names in
                let listen = names.parsed("listen") { text throws(AddressProblem) in
                    try EndpointAddress.read(text, defaultPort: Self.names.port)
                }
                let address = listen ?? Self.names
                compare(address, names, with: taken)
                let allow = clients(names, of: address)
                let states = names.choices("states", default: [HeraldConfiguration.Doors.Names.Statement]())
                return doorTrunk(names, among: trunks).map {
                    HeraldConfiguration.Doors.Names(listen: address, trunk: $0, allow: allow, states: states)
                }
            }
            let names = doors.names?.listen
            doors.callingNames = section.section("enum") { section in
                let door = callingNames(section, trunks)
                if let door {
                    compare(door.listen, section, with: taken)
                    compare(door.listen, section, with: ["doors.names.listen": names])
                }
                return door
            }
            let calls = listeners.filter { $0.transport == .udp }.map {
                (key: "listen \($0.name)", address: $0.address)
            }
            let zone = doors.callingNames.map { [(key: "doors.enum.listen", address: $0.listen)] } ?? []
            doors.redirect = section.section("redirect") { redirect($0, trunks, taken: calls + zone) }
            let enumListen = doors.callingNames?.listen
            doors.verification = section.section("verification") { section in
                let door = verification(section, trunks)
                if let door {
                    compare(door.listen, section, with: taken)
                    compare(
                        door.listen, section, with: ["doors.names.listen": names, "doors.enum.listen": enumListen])
                }
                return door
            }
            doors.outcomes = section.section("outcomes") { section in
                let naming = [doors.names?.trunk, doors.callingNames?.trunk, doors.redirect?.trunk]
                let door = doorOutcomes(section, trunks, naming: naming)
                if let door {
                    compare(door.listen, section, with: taken)
                    compare(
                        door.listen, section,
                        with: [
                            "doors.names.listen": names, "doors.enum.listen": enumListen,
                            "doors.verification.listen": doors.verification?.listen,
                        ])
                }
                return door
            }
        }
        return doors
    }

    /// Reports an address on which another server listens over TCP.
    private func compare(
        _ address: EndpointAddress, _ section: ConfigurationSection, with taken: KeyValuePairs<String, EndpointAddress?>
    ) {
        for (key, other) in taken where address.port != 0 && other == address {
            section.problem("listen", "\(address) is also that of \(key); write another port")
        }
    }

    /// The trunk whose rules a door has: the only one, or the one of its key.
    func doorTrunk(_ section: ConfigurationSection, among trunks: [HeraldConfiguration.Trunk]) -> String? {
        guard let name = section.string("trunk") else {
            if trunks.count > 1, !section.has("trunk") { section.missing("trunk", trunks[0].name) }
            return trunks.count == 1 ? trunks[0].name : nil
        }
        let known = trunks.map(\.name)
        // Without trunks the section `trunks` has its own problems.
        guard known.isEmpty || known.contains(name) else {
            section.problem("trunk", "no trunk is named \"\(name)\"" + NearestName.hint(name, among: known))
            return nil
        }
        return name
    }

    /// The clients of a door: those listed, or this machine for an address on loopback.
    ///
    /// - Parameter lack: what an empty list would mean.
    func clients(
        _ section: ConfigurationSection, of address: EndpointAddress, lack: String = "nobody would get a name"
    ) -> [SourceRange] {
        let allow = section.list("allow") { text throws(AddressProblem) in try SourceRange.read(text) }
        if section.isEmptyList("allow") { section.problem("allow", "must not be empty: \(lack)") }
        guard !section.has("allow") else { return allow }
        if !address.isLoopback { section.missing("allow", "[192.0.2.20]") }
        return Self.thisMachine
    }
}
