// SPDX-License-Identifier: Apache-2.0

import Foundation
package import PostgreSQL

extension HeraldConfiguration {
    /// The gateways that carry on each other's calls.
    package struct Cluster: Hashable, Sendable {
        /// The treatment of the limits of trunks.
        package enum Limits: String, ConfigurationWord, Sendable {
            /// Each gateway allows its share, rounded up.
            case divided
            /// Each gateway allows all of it.
            case each
        }

        /// 32 hexadecimal digits each; the first signs, all verify. Empty if the file was loaded without its secrets.
        package var secrets: [ConfiguredSecret]
        /// The address for reports of siblings.
        package var listen: EndpointAddress
        /// The addresses of the other gateways for such reports; at least one.
        package var siblings: [EndpointAddress]
        /// The name or address in Via and Record-Route of all gateways, where a listener has no `advertise`.
        package var route: EndpointAddress?
        package var limits = Limits.divided
        /// The database of the calls of all gateways; nil if each keeps its own alone.
        package var ledger: PostgreSQLAddress?
        /// The password in that address, with its file; nil if the URL has it, or none is needed.
        var ledgerPassword: ConfiguredSecret?

        /// The number of gateways, this one included.
        package var nodes: Int { siblings.count + 1 }
    }
}

extension HeraldSchema {
    /// The default port for reports of siblings.
    private static let port: UInt16 = 5070

    /// Reads the `cluster` section.
    func cluster(_ listen: [HeraldConfiguration.Listener]) -> HeraldConfiguration.Cluster? {
        root.section("cluster") { section in
            let secrets = SecretSchema(file: file).readKeys(section, "secret_file", secrets: secrets)
            let address = section.parsed("listen") { text throws(AddressProblem) in
                try EndpointAddress.read(text, defaultPort: Self.port)
            }
            if address == nil, !section.has("listen") { section.missing("listen", "192.0.2.10:5070") }
            let siblings = section.list("siblings") { text throws(AddressProblem) in
                try EndpointAddress.read(text, defaultPort: Self.port)
            }
            if !section.has("siblings") { section.missing("siblings", "[192.0.2.11:5070]") }
            let route = section.parsed("route") { text throws(AddressProblem) in
                try EndpointAddress.read(text, defaultPort: 5060, allowsNames: true)
            }
            let limits = section.choice("limits", default: HeraldConfiguration.Cluster.Limits.divided)
            let ledgerPassword = ledgerPassword(section)
            let ledger = sharedLedger(section, ledgerPassword)
            guard let secrets, let address, !siblings.isEmpty else { return nil }
            let cluster = HeraldConfiguration.Cluster(
                secrets: secrets, listen: address, siblings: siblings, route: route, limits: limits,
                ledger: ledger, ledgerPassword: ledgerPassword)
            check(cluster, listen, section)
            return cluster
        }
    }

    private static func hasLedgerPassword(_ section: ConfigurationSection) -> Bool {
        section.has("ledger_password_file") || section.has("ledger_password_env")
    }

    private func ledgerPassword(_ section: ConfigurationSection) -> ConfiguredSecret? {
        guard Self.hasLedgerPassword(section) else { return nil }
        return SecretSchema(file: file).read(section, "ledger_password", secrets: secrets)
    }

    private func sharedLedger(_ section: ConfigurationSection, _ password: ConfiguredSecret?) -> PostgreSQLAddress? {
        guard let url = section.string("ledger") else {
            if Self.hasLedgerPassword(section), !section.has("ledger") {
                section.missing("ledger", "postgres://herald@db.example.com/herald")
            }
            return nil
        }
        do throws(PostgreSQLAddress.Problem) {
            return try PostgreSQLAddress(
                url, password: password?.reveal(), defaults: ["target_session_attrs": "read-write"])
        } catch {
            section.problem("ledger", error.description)
            return nil
        }
    }

    private func check(
        _ cluster: HeraldConfiguration.Cluster, _ listen: [HeraldConfiguration.Listener],
        _ section: ConfigurationSection
    ) {
        if cluster.listen.isWildcard {
            section.problem(
                "listen",
                "\(cluster.listen.host) means every interface; write the address that siblings have for this one")
        }
        for (position, sibling) in cluster.siblings.enumerated() where sibling == cluster.listen {
            section.problem("siblings", element: position, "\(sibling) is this gateway's own address; remove it")
        }
        if Set(cluster.siblings).count < cluster.siblings.count {
            section.problem("siblings", "contains an address twice")
        }
        let unnamed = listen.filter { $0.advertise == nil }
        if let route = cluster.route, route.isWildcard {
            section.problem("route", "\(route.host) means every interface; write a host name or the shared address")
        } else if let route = cluster.route, route.hasPort, unnamed.count > 1 {
            section.problem("route", "has a port, but several listen entries need one each; write it without the port")
        } else if cluster.route == nil, !unnamed.isEmpty {
            section.missing("route", "sip.example.com")
        }
    }
}
