// SPDX-License-Identifier: Apache-2.0

import Branding
import Primitives
import Trust

/// A short description of a configuration, for `check-config`.
package struct ConfigurationSummary {
    private let configuration: HeraldConfiguration

    package init(_ configuration: HeraldConfiguration) {
        self.configuration = configuration
    }

    /// The description: one line per listener, trunk, PBX, service and remark, each with a line end.
    package var text: String {
        let lines = [
            ["gateway \(configuration.id), state in \(configuration.state)"], listen, trunks, pbx, routes, rest,
            remarks,
        ]
        return lines.joined().map { $0 + "\n" }.joined()
    }

    private var listen: [String] {
        configuration.listen.map { listener in
            "listen  \(listener.name): \(listener.transport.word.uppercased()) \(listener.address)"
                + (listener.advertise.map { ", advertised as \($0)" } ?? "")
                + (listener.names.isEmpty ? "" : ", also \(listener.names.map(\.description).joined(separator: ", "))")
        }
    }

    private var trunks: [String] {
        configuration.trunks.map { trunk in
            let sources = trunk.sources.map(\.description).joined(separator: ", ")
            return "trunk   \(trunk.name): from \(sources), next hop "
                + "\(targets(trunk.targets)), to pbx \(configuration.pbx[trunk.pbx].name), "
                + "\(trunk.isTrusted ? "trusted" : "not trusted"), policy \(trunk.policy.rawValue), "
                + (trunk.region.map { "region \($0)" } ?? "no region") + ", emergency numbers "
                + EmergencyNumbers(region: trunk.region, own: trunk.emergencyNumbers).dialled.joined(separator: " ")
                + brands(trunk.brands)
        }
    }

    private func brands(_ mode: BrandMode) -> String {
        switch mode {
        case .on: ""
        case .shadow: ", brands in shadow"
        case .off: ", no brands"
        }
    }

    private var pbx: [String] {
        configuration.pbx.map { pbx in
            let sources =
                pbx.sources.isEmpty ? "its own address" : pbx.sources.map(\.description).joined(separator: ", ")
            return "pbx     \(pbx.name): \(targets(pbx.targets)), from \(sources)"
        }
    }

    private var routes: [String] {
        let routes = configuration.routes
        guard !routes.table.isEmpty else { return [] }
        let unmatched = routes.unmatched == .trunk ? "the trunk's pbx" : "404"
        return routes.table.map { route in
            "route   \(route.name): \(route.numberCount) numbers, \(route.prefixCount) prefixes, to "
                + (route.pbx.map { "pbx \(configuration.pbx[$0].name)" } ?? "the trunk's pbx")
                + (route.customer.map { ", customer \(configuration.customers[$0].name)" } ?? "")
                + (route.policy.map { ", policy \($0.rawValue)" } ?? "") + brands(route.brands)
        } + ["route   other numbers: \(unmatched)"]
    }

    private func targets(_ targets: [HeraldConfiguration.Target]) -> String {
        targets.map { "\($0.address) by \(configuration.listen[$0.listener].name)" }.joined(separator: ", or ")
    }

    private var rest: [String] {
        var lines: [String] = []
        if let cluster = configuration.cluster {
            let siblings = cluster.siblings.map(\.description).joined(separator: ", ")
            let route = cluster.route.map { ", route \($0)" } ?? ""
            lines.append(
                "cluster on \(cluster.listen), siblings \(siblings)\(route), limits \(cluster.limits.rawValue)")
            if let ledger = cluster.ledger { lines.append("calls   also in the shared ledger at \(ledger)") }
        }
        lines += outputs
        if let directory = configuration.directory { lines.append("brands  from \(ShownURL.text(directory.url))") }
        if !configuration.customers.isEmpty {
            let accounts = Set(configuration.customers.map(\.directory)).count
            lines.append("brands  of \(configuration.customers.count) customers, from \(accounts) directory accounts")
        }
        if let file = configuration.brandsFile { lines.append("brands  from the file \(file)") }
        if let logos = configuration.logos {
            let form = logos.scales ? "\(logos.sizes[0]) pixels square, \(logos.format.rawValue)" : "unchanged"
            lines.append("logos   on http://\(logos.listen), URL for phones \(logos.publicURL), \(form)")
            lines += phones(logos)
        }
        if let trust = configuration.trust {
            let names = trust.regimes.map(\.regime.name).joined(separator: ", ")
            let certificates =
                trust.fetchRules.isEmpty ? "certificates come from herald trust import" : "certificates are fetched"
            let lists = trust.regimes.map(\.regime).filter(\.verify).reduce(0) {
                $0 + ($1.listAddress == nil ? 0 : 1) + $1.revocationAddresses.count
            }
            lines.append(
                "trust   regimes \(names); \(certificates)" + (lists > 0 ? "; \(lists) lists are fetched" : ""))
            lines += configuration.trunks.compactMap(signatures)
        }
        if let names = configuration.doors.names {
            let clients = names.allow.map(\.description).joined(separator: ", ")
            lines.append("names   on http://\(names.listen) for \(clients), by the rules of trunk \(names.trunk)")
        }
        if let door = configuration.doors.callingNames {
            let clients = door.allow.map(\.description).joined(separator: ", ")
            lines.append(
                "enum    zone \(door.zone) on \(door.listen) for \(clients), by the rules of trunk \(door.trunk)")
        }
        if let door = configuration.doors.redirect {
            let clients = door.allow.map(\.description).joined(separator: ", ")
            lines.append(
                "302     UDP \(door.listen) for \(clients), by the rules of trunk \(door.trunk), name in "
                    + door.nameIn.word)
        }
        if let door = configuration.doors.verification {
            let clients = door.allow.map(\.description).joined(separator: ", ")
            lines.append(
                "verify  on http://\(door.listen)\(door.path) for \(clients), by the rules of trunk \(door.trunk)")
        }
        if let door = configuration.doors.outcomes {
            let clients = door.allow.map(\.description).joined(separator: ", ")
            lines.append(
                "reports on http://\(door.listen)/outcome of \(clients), by the rules of trunk \(door.trunk)")
        }
        lines.append("admin   " + (configuration.admin.map(admin) ?? "off"))
        return lines
    }

    /// The verification of a trunk's signed calls; nil where it is off.
    private func signatures(_ trunk: HeraldConfiguration.Trunk) -> String? {
        guard let signatures = configuration.signatures(of: trunk) else { return nil }
        let regimes = signatures.policy.regimes.map(\.name).joined(separator: ", ")
        let effect =
            switch signatures.mode {
            case .shadow: ""
            case .decide:
                ", verification_source \(signatures.source.rawValue), on_failed \(signatures.onFailed.rawValue), "
                    + "name_source \(signatures.nameSource.rawValue)"
            }
        return "signed  \(trunk.name): \(signatures.mode.rawValue), regimes \(regimes)" + effect
    }

    /// The receivers of call records.
    private var outputs: [String] {
        let outcomes = configuration.outcomes
        let file = outcomes.recordFile.map { "calls   to the file \($0)" }
        let webhook = outcomes.webhook.map { "calls   to the webhook \(ShownURL.withoutPath($0.url))" }
        let kafka = outcomes.kafka.map { kafka in
            let (tls, sasl) = (
                kafka.tls == nil ? "no TLS" : "TLS", kafka.sasl.map { ", login \($0.mechanism.rawValue)" }
            )
            return
                "calls   to the topic \(kafka.topic) of \(kafka.brokers.map(\.description).joined(separator: ", ")), "
                + tls + (sasl ?? "")
        }
        return [file, webhook, kafka].compactMap { $0 }
    }

    private func admin(_ address: EndpointAddress) -> String {
        let scheme = configuration.adminAccess.tls == nil ? "http" : "https"
        let pages =
            switch configuration.pageAccess {
            case .thisMachine: "pages without login"
            case .token: "pages with a token"
            case .off: "pages off"
            }
        return "\(scheme)://\(address), \(pages)"
    }

    /// Forms of logos and services for phones beyond the usual logo; empty for none.
    private func phones(_ logos: HeraldConfiguration.Logos) -> [String] {
        let parts = [
            logos.phones.isEmpty ? nil : "logos for " + logos.phones.map(\.rawValue).joined(separator: ", "),
            logos.servesPictures ? "pictures by number" : nil,
            logos.servesPhonebook ? "phonebooks of up to \(logos.phonebookContacts) contacts" : nil,
        ].compactMap { $0 }
        return parts.isEmpty ? [] : ["phones  " + parts.joined(separator: "; ")]
    }

    private var remarks: [String] { (configuration.remarks + configuration.plainTrustRemarks).map { "note    \($0)" } }
}
