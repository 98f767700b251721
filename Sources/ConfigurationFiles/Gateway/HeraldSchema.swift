// SPDX-License-Identifier: Apache-2.0

import Foundation
import SIPCore

/// Reads `herald.yaml`, section by section, in the order of `Config/herald.yaml`.
struct HeraldSchema {
    let file: ConfigurationFile
    let root: ConfigurationSection
    let secrets: HeraldConfiguration.Secrets
    var lists = HeraldConfiguration.Lists.read

    func read() -> HeraldConfiguration? {
        let gateway = gateway()
        let listen = listeners()
        let trust = trust()
        let peers = PeersSchema(root: root, listen: listen ?? [], trust: trust)
        let pbx = peers.pbxs()
        let trunks = peers.trunks(pbx ?? [])
        let branding = branding()
        let directory = directory()
        let customers = customers(directory)
        let routes = RoutesSchema(file: file, root: root, lists: lists, pbx: pbx ?? [], customers: customers).read()
        let brandsFile = brandsFile()
        if root.has("directory"), root.has("brands") {
            root.problem("brands", "cannot be combined with directory; brands have one source")
        }
        let outcomes = outcomes()
        let alarms = alarms()
        let health = health()
        let timers = timers()
        let limits = limits()
        let streams = streams()
        let nameServers = nameServers()
        let strangers = root.choice("strangers", default: StrangerTreatment.refuse)
        let (admin, adminAccess) = admin()
        let logos = logos(directory, customers, admin: admin, pbx: pbx ?? [])
        let log = LogSchema.read(root, isGateway: true)
        let trace = trace()
        let cluster = cluster(listen ?? [])
        let doors = doors(
            trunks ?? [], taken: ["admin.listen": admin, "logos.listen": logos?.listen], beside: listen ?? [])
        guard let listen, let trunks, let pbx else { return nil }
        remarkSharedNames(listen, pbx.flatMap(\.targets) + trunks.flatMap(\.targets))
        return HeraldConfiguration(
            id: gateway.id, state: gateway.state, runtime: gateway.runtime, workers: gateway.workers,
            drain: gateway.drain, listen: listen, trunks: trunks, pbx: pbx, routes: routes,
            branding: branding, directory: directory, customers: customers, brandsFile: brandsFile, logos: logos,
            outcomes: outcomes, alarms: alarms,
            health: health, timers: timers, limits: limits, streams: streams, nameServers: nameServers,
            strangers: strangers,
            admin: admin, adminAccess: adminAccess, log: log, trace: trace, cluster: cluster,
            trust: trust, doors: doors)
    }

    private struct GatewaySection {
        var id = ProcessInfo.processInfo.hostName
        var state = "/var/lib/herald"
        var runtime = "/run/herald"
        var workers = 1
        var drain = Duration.zero
    }

    private func gateway() -> GatewaySection {
        var gateway = GatewaySection()
        root.within("gateway") { section in
            gateway.id = section.string("id", form: WordForm.name, WordForm.isName) ?? gateway.id
            gateway.state = section.string("state").map(file.resolved) ?? gateway.state
            gateway.runtime = section.string("runtime").map(file.resolved) ?? gateway.runtime
            gateway.workers = section.integer("workers", default: gateway.workers, in: 1...64)
            gateway.drain = section.duration("drain", default: gateway.drain, in: .zero ... .seconds(86_400))
        }
        return gateway
    }

    private func listeners() -> [HeraldConfiguration.Listener]? {
        if !root.has("listen") { root.missing("listen", "[{name: sip, address: 192.0.2.10:5060}]") }
        var names: Set<String> = []
        var addresses: Set<String> = []
        return root.sections("listen") { position, section -> HeraldConfiguration.Listener? in
            let name = section.string("name", form: WordForm.name, WordForm.isName) ?? "listen\(position + 1)"
            if !names.insert(name).inserted { section.problem("name", "an earlier entry is named \"\(name)\"") }
            let advertise = section.parsed("advertise") { text throws(AddressProblem) in
                try EndpointAddress.read(text, defaultPort: 5060, allowsNames: true)
            }
            let ownNames = section.list("names") { text throws(AddressProblem) in
                try EndpointAddress.read(text, defaultPort: 5060, allowsNames: true)
            }
            guard section.has("address") else {
                section.missing("address", "192.0.2.10:5060")
                return nil
            }
            let address = section.parsed("address") { text throws(AddressProblem) in
                try EndpointAddress.read(text, defaultPort: 5060)
            }
            guard let address else { return nil }
            let transport = section.choice("transport", default: SIPTransportKind.udp)
            let tls = transport == .tls ? tlsFiles(section) : nil
            if !addresses.insert("\(transport == .udp ? "udp" : "tcp") \(address)").inserted {
                section.problem("address", "an earlier entry has \(address)")
            }
            if address.isWildcard, !section.has("advertise") {
                section.problem(
                    "address",
                    "\(address.host) means every interface; write one address, or add advertise: with the address "
                        + "for peers")
            }
            if let advertise, !advertise.isName, advertise.isWildcard || advertise.isIPv6 != address.isIPv6 {
                section.problem("advertise", "must be a host name, or one address of the same family as \(address)")
            }
            for (place, own) in ownNames.enumerated() where own.isWildcard {
                section.problem(
                    "names", element: place, "\(own.host) means every interface; write a host name or an address")
            }
            return HeraldConfiguration.Listener(
                name: name, address: address, advertise: advertise, names: ownNames, transport: transport,
                tls: tls)
        }
    }

    /// Reports a name of the gateway that is also a target.
    ///
    /// A Route to that target would otherwise count as one to the gateway.
    private func remarkSharedNames(_ listen: [HeraldConfiguration.Listener], _ targets: [HeraldConfiguration.Target]) {
        for (position, listener) in listen.enumerated() {
            for name in listener.names {
                let port = name.hasPort ? name.port : listener.address.port
                guard
                    let target = targets.first(where: {
                        $0.address.host.lowercased() == name.host.lowercased() && $0.address.port == port
                    })
                else { continue }
                root.problem(
                    "listen", element: position,
                    "names contains \(name), which is also a target (\(target.address)); remove it from names")
            }
        }
    }

    private func tlsFiles(_ section: ConfigurationSection) -> HeraldConfiguration.TLSFiles {
        func readable(_ key: String, isNeeded: Bool) -> String? {
            guard let path = section.string(key).map(file.resolved) else {
                if isNeeded { section.missing(key, "/etc/herald/\(key).pem") }
                return nil
            }
            section.checkReadable(key, path)
            return path
        }
        return HeraldConfiguration.TLSFiles(
            certificate: readable("certificate", isNeeded: true) ?? "", key: readable("key", isNeeded: true) ?? "",
            roots: readable("roots", isNeeded: false),
            asksForCertificate: section.bool("client_certificate", default: false),
            suites: section.choice("ciphers", default: HeraldConfiguration.CipherSuites.modern))
    }
}
