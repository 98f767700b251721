// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import PostgreSQL
import Primitives
import SIPCore
import Trust

// Remarks about valid configurations that are probably not intended.

extension HeraldConfiguration {
    /// Valid settings that deserve attention before the gateway starts.
    package var remarks: [String] {
        var remarks: [String] = []
        if directory == nil, brandsFile == nil, customers.isEmpty {
            remarks.append("neither directory nor brands is configured: every call passes unbranded")
        }
        if !branding.isEnabled { remarks.append("branding.enabled is false: every call passes unbranded") }
        remarks += shadowRemarks
        if directory?.sendsKeyUnencrypted == true {
            remarks.append("directory.url is http: the key travels unencrypted")
        }
        let ownURLs = customers.filter { $0.directory.url != directory?.url }
        for customer in ownURLs.filter(\.directory.sendsKeyUnencrypted).prefix(10) {
            remarks.append("directory.url of customer \(customer.name) is http: the key travels unencrypted")
        }
        if let ledger = cluster?.ledger, !ledger.isLocal, !ledger.requiresTLS {
            remarks.append(
                "cluster.ledger does not require TLS: add sslmode=verify-full and sslrootcert, or numbers travel unencrypted"
            )
        }
        let secrets =
            [
                directory?.key, directory?.signing?.secret, adminAccess.token, cluster?.secrets.first,
                cluster?.ledgerPassword,
            ]
            + [outcomes.webhook?.secret, outcomes.kafka?.sasl?.password, alarms.webhook?.secret]
            + customers.flatMap { [$0.directory.key, $0.directory.signing?.secret] }
        for file in secrets.compactMap({ $0?.openFile }) + openLogins {
            remarks.append("\(file) contains a secret and is readable by every user of this machine: chmod o= \(file)")
        }
        if let admin, !admin.isLoopback {
            remarks.append(
                "admin.listen is \(admin): /metrics and /status have no login; restrict access to this address")
            if case .off = pageAccess {
                remarks.append(
                    "the pages on \(admin) are off: they need admin.tls and admin.token_file on an address that others can reach"
                )
            }
        }
        if let logos, logos.listen.isLoopback, logos.publicURL == "http://\(logos.listen)" {
            remarks.append("logos.listen is \(logos.listen): only phones on this machine can fetch logos")
        }
        for customer in unroutedCustomers.prefix(10) {
            remarks.append(
                "customer \(customer) has no route: no call is its own; add customer: \(customer) to a route")
        }
        remarks +=
            peerRemarks + routes.remarks + unencryptedRemarks + logoRemarks + signatureRemarks
            + doorRemarks
        for trunk in trunks where !trunk.isTrusted {
            let calls = signatures(of: trunk)?.mode == .decide ? "calls without a good signature" : "calls"
            remarks.append("trunk \(trunk.name) is not trusted: its \(calls) are not branded")
        }
        for trunk in trunks where !trunk.takesWithheldIdentity {
            remarks.append(
                "trunk \(trunk.name) gets no caller identity if the number is withheld, except in emergency calls: if the "
                    + "carrier needs it, set withheld_identity: keep")
        }
        return remarks
    }
}

extension HeraldConfiguration.DirectoryAccess {
    /// True for an `http` URL of another machine.
    fileprivate var sendsKeyUnencrypted: Bool {
        guard let url = URL(string: url), url.scheme == "http" else { return false }
        return !["127.0.0.1", "::1", "localhost"].contains(url.host() ?? "")
    }
}

extension HeraldConfiguration {
    /// Names of customers without a route.
    private var unroutedCustomers: [String] {
        let routed = Set(routes.table.compactMap(\.customer))
        return customers.indices.filter { !routed.contains($0) }.map { customers[$0].name }
    }

    /// Remarks about trunks and routes whose calls have no brand by `brands`.
    private var shadowRemarks: [String] {
        let peers =
            trunks.map { ("trunk \($0.name)", $0.brands) } + routes.table.map { ("route \($0.name)", $0.brands) }
        return peers.compactMap { name, mode in
            switch mode {
            case .on: nil
            case .shadow where !branding.isEnabled:
                "\(name) has brands: shadow: no effect while branding.enabled is false"
            case .shadow: ShadowText.remark(of: name)
            case .off: name.hasPrefix("trunk") ? "\(name) has brands: false: its calls are not branded" : nil
            }
        }
    }

    /// Files with the login of a list of authorities that every user of the machine can read.
    private var openLogins: [String] {
        (trust?.regimes ?? []).compactMap(\.regime.listAuthorization).filter { path in
            var status = stat()
            return stat(path, &status) == 0 && status.st_mode & S_IROTH != 0
        }
    }

    /// Remarks about signed calls: keys without effect, a section without use, and calls that end.
    private var signatureRemarks: [String] {
        var remarks = trunks.filter { !$0.signatures.unused.isEmpty }.map { trunk in
            "trunk \(trunk.name) has signatures: off: no effect of \(trunk.signatures.unused.joined(separator: ", "))"
        }
        if trust != nil, trunks.allSatisfy({ signatures(of: $0) == nil }) {
            remarks.append(
                "trust has no use: no trunk verifies signed calls, by signatures: off or a first regime that verifies nothing"
            )
        }
        for trunk in trunks {
            guard let signatures = signatures(of: trunk), signatures.nameSource.needsSignature else { continue }
            remarks.append(
                "trunk \(trunk.name) shows no brand without a signed name (name_source: \(signatures.nameSource.rawValue))"
                    + (signatures.mode == .shadow ? " once signatures is decide" : ""))
        }
        for trunk in trunks {
            guard let signatures = signatures(of: trunk), signatures.onFailed == .reject else { continue }
            remarks.append(
                "trunk \(trunk.name) rejects calls whose signature counts against them (on_failed: reject)"
                    + (signatures.mode == .shadow ? " once signatures is decide" : ""))
        }
        return remarks
    }

    /// Remarks about targets that loop back, shared addresses and wide trusted sources.
    var peerRemarks: [String] {
        let groups = trunks.map { ("trunk \($0.name)", $0.targets) } + pbx.map { ("pbx \($0.name)", $0.targets) }
        var remarks: [String] = []
        for (name, targets) in groups {
            for target in targets {
                guard let own = listen.first(where: { $0.isReached(at: target.address) }) else { continue }
                remarks.append(
                    "\(name): \(target.address) is this gateway's own address (listen \(own.name)): a call to it comes back "
                        + "and gets 482; write the peer's address")
            }
        }
        let pbxHosts = pbxByHost
        for trunk in trunks {
            let shared = Set(trunk.targets.filter { !$0.address.isName }.flatMap { pbxHosts[$0.address.host] ?? [] })
            for pbx in shared.sorted().map({ pbx[$0] }) {
                remarks.append(
                    "pbx \(pbx.name) and trunk \(trunk.name) share the address \(pbx.targets[0].address.host): requests "
                        + "from there count as the PBX's and get no brand; write the PBX's own address, or sources with ports"
                )
            }
            remarks += trunk.sourceRemarks(by: listen[trunk.listener].transport)
        }
        return remarks
    }

    /// Positions of the PBXs without sources of their own, by the hosts of their targets.
    private var pbxByHost: [String: [Int]] {
        var found: [String: [Int]] = [:]
        for (position, pbx) in pbx.enumerated() where pbx.sources.isEmpty {
            for target in pbx.targets { found[target.address.host, default: []].append(position) }
        }
        return found
    }

    /// Trusted trunks that only the source addresses of plain UDP identify, as one remark of `check-config`.
    var plainTrustRemarks: [String] {
        let plain = trunks.filter { trunk in
            trunk.isTrusted && trunk.certificateNames.isEmpty && listen[trunk.listener].transport == .udp
                && trunk.sources.contains { !$0.isLoopback }
        }
        guard let first = plain.first else { return [] }
        let others = plain.count - 1
        let names = others == 0 ? "trunk \(first.name) is" : "trunk \(first.name) and \(others) more are"
        return [
            "\(names) trusted by UDP source address, which a sender can forge: anybody who does can claim a number and get "
                + "its brand; filter spoofed packets at the border, or use TLS with certificate_names"
        ]
    }

    /// Remarks about numbers that travel unencrypted.
    var unencryptedRemarks: [String] {
        var remarks: [String] = []
        if let webhook = outcomes.webhook, let url = URL(string: webhook.url), url.scheme == "http",
            !Self.isThisMachine(url)
        {
            remarks.append("outcomes.webhook.url is http: telephone numbers travel unencrypted; use https")
        }
        if let kafka = outcomes.kafka, kafka.tls == nil, !kafka.isLocal {
            remarks.append("outcomes.kafka has no tls: telephone numbers travel unencrypted; add tls")
        }
        return remarks
    }

    /// Remarks about logos that phones will not get.
    var logoRemarks: [String] {
        guard branding.isEnabled, branding.writesCallInfo, let directory, let url = URL(string: directory.url),
            url.scheme == "http"
        else { return [] }
        guard let logos else {
            if !branding.allowsInsecureLogos {
                return [
                    "directory.url is http, so the directory's own logos are http unless its public_url is https: http logos "
                        + "are left out; add a logos section, which serves copies to phones"
                ]
            }
            guard Self.isThisMachine(url) else { return [] }
            return [
                "logos at \(ShownURL.text(directory.url)) can be fetched on this machine only; add a logos section, or set public_url of the "
                    + "directory"
            ]
        }
        var keys: [String] = []
        if !logos.allowsHTTP { keys.append("allow_http: true") }
        if !logos.allowsPrivate, Self.isPrivate(url) { keys.append("allow_private: true") }
        guard !keys.isEmpty else { return [] }
        return [
            "logos of the directory at \(ShownURL.text(directory.url)) are not fetched; set \(keys.joined(separator: " and ")) in logos"
        ]
    }

    private static func isThisMachine(_ url: URL) -> Bool {
        guard let host = url.host() else { return false }
        return host == "localhost" || address(host)?.isLoopback ?? false
    }

    /// True for hosts that need `logos.allow_private`, as far as the URL shows it.
    private static func isPrivate(_ url: URL) -> Bool {
        guard let host = url.host() else { return false }
        if host == "localhost" { return true }
        guard let address = address(host) else { return false }
        return address.isLoopback || notPublic.contains { $0.covers(SourceRange(only: address)) }
    }

    /// Private, shared, link-local and documentation networks (RFC 6890).
    private static let notPublic = [
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "192.0.2.0/24",
        "198.51.100.0/24", "203.0.113.0/24", "[fc00::]/7", "[fe80::]/10", "[2001:db8::]/32",
    ].compactMap { try? SourceRange.read($0) }

    private static func address(_ host: String) -> EndpointAddress? {
        let bare = host.hasPrefix("[") ? host : host.contains(":") ? "[\(host)]" : host
        return try? EndpointAddress.read(bare, defaultPort: 80)
    }
}

extension HeraldConfiguration.Listener {
    /// True if a message to the address arrives at this listener.
    fileprivate func isReached(at peer: EndpointAddress) -> Bool {
        [address, advertise].contains { $0.map { $0 == peer } ?? false }
    }
}

extension HeraldConfiguration.Trunk {
    /// Remarks about trusted sources that are wider than a carrier's network.
    fileprivate func sourceRemarks(by transport: SIPTransportKind) -> [String] {
        guard isTrusted, certificateNames.isEmpty else { return [] }
        return sources.compactMap { range in
            if range.prefixLength == 0 {
                return "trunk \(name) is trusted and its sources contain every address (\(range)): anybody can claim "
                    + "any number; list the carrier's addresses"
            }
            guard transport == .udp, range.prefixLength < (range.isIPv6 ? 48 : 24) else { return nil }
            return
                "trunk \(name) is trusted by address only, and \(range) is wide: UDP source addresses can be forged; "
                + "narrow sources, or use TLS with certificate_names"
        }
    }
}

extension SourceRange {
    /// True for a part of 127.0.0.0/8, and for ::1.
    fileprivate var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") && prefixLength >= 8 }

    /// Creates the range of one address, with any port.
    fileprivate init(only address: EndpointAddress) {
        self.init(
            host: address.host, isIPv6: address.isIPv6, prefixLength: address.isIPv6 ? 128 : 32, port: nil)
    }
}
