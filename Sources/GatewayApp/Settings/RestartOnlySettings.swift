// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import GatewayConfiguration
import PostgreSQL

/// The settings that a reload cannot change: addresses, folders, threads, the way names are written.
struct RestartOnlySettings: Sendable {
    /// The configuration of the start.
    private let running: HeraldConfiguration
    private let hasStreams: Bool

    /// - Parameter hasStreams: whether an address uses TCP or TLS.
    init(_ running: HeraldConfiguration, hasStreams: Bool) {
        self.running = running
        self.hasStreams = hasStreams
    }

    /// Puts the running values back into `next` and returns the keys of those that differed.
    func restore(in next: inout HeraldConfiguration) -> [String] {
        var changed: [String] = []
        func keep<Part: Equatable>(_ name: String, _ part: WritableKeyPath<HeraldConfiguration, Part>) {
            guard next[keyPath: part] != running[keyPath: part] else { return }
            changed.append(name)
            next[keyPath: part] = running[keyPath: part]
        }
        keep("listen", \.listen)
        keep("gateway.id", \.id)
        keep("gateway.state", \.state)
        keep("gateway.runtime", \.runtime)
        keep("gateway.workers", \.workers)
        // A file of brands and a directory exclude each other.
        if next.brandsFile != running.brandsFile { keep("directory", \.directory) }
        keep("brands", \.brandsFile)
        if (next.logos == nil) != (running.logos == nil) { keep("logos", \.logos) }
        if let listen = running.logos?.listen, let other = next.logos?.listen, listen != other {
            changed.append("logos.listen")
            next.logos?.listen = listen
        }
        if next.cluster?.ledger != running.cluster?.ledger, next.cluster != nil, running.cluster != nil {
            changed.append("cluster.ledger")
            next.cluster?.ledger = running.cluster?.ledger
        }
        if (next.cluster == nil) != (running.cluster == nil) { keep("cluster", \.cluster) }
        if let listen = running.cluster?.listen, let other = next.cluster?.listen, listen != other {
            changed.append("cluster.listen")
            next.cluster?.listen = listen
        }
        changed += restorePhones(in: &next)
        changed += restoreTrust(in: &next)
        keep("outcomes.ring_slots", \.outcomes.ringSlots)
        keep("trace.buffer", \.trace.buffer)
        keep("streams", \.streams)
        keep("limits.max_transactions", \.limits.maxTransactions)
        // Open streams frame messages by the limit of their start.
        if hasStreams { keep("limits.max_message", \.limits.maxMessage) }
        if next.renderingProfile != running.renderingProfile { changed.append(Self.names) }
        return changed
    }

    /// Compares a file with the values in force, and those that wait for a restart with the values of the start.
    ///
    /// - Parameters:
    ///   - inForce: the values of the last file that was applied.
    ///   - waiting: keys of `next` that differ from the start, from `restore`.
    ///   - earlier: such keys of the last file that was applied.
    func plan(
        _ next: ConfigurationValues, inForce: ConfigurationValues, _ waiting: [String], earlier: [String]
    ) -> ReloadPlan {
        let changed = next.changes(from: inForce).filter { Self.key(of: $0.path, in: waiting + earlier) == nil }
        let since = next.changes(from: running.values).filter { Self.key(of: $0.path, in: waiting) != nil }
        let all = Dictionary(
            (changed.map { ReloadPlan.Change($0, needsRestart: false) }
                + since.map { ReloadPlan.Change($0, needsRestart: true) }).map { ($0.change.path, $0) },
            uniquingKeysWith: { first, _ in first })
        let order = next.paths + all.keys.sorted().filter { !next.has($0) }
        let named = Set(since.compactMap { Self.key(of: $0.path, in: waiting) })
        return ReloadPlan(changes: order.compactMap { all[$0] }, waiting: waiting.filter { !named.contains($0) })
    }

    /// The key that covers a path, out of the keys of `restore`.
    private static func key(of path: String, in keys: [String]) -> String? {
        keys.first { key in
            guard key != names else { return renderingKeys.contains(path) }
            return path == key || path.hasPrefix(key + ".") || path.hasPrefix(key + "[")
        }
    }

    /// The keys of `renderingProfile`.
    private static let renderingKeys: Set = [
        "branding.max_name_bytes", "branding.max_reason_characters", "branding.percent", "branding.quotes",
        "branding.allow_insecure_logos",
    ]

    /// The key of `renderingKeys` for an operator.
    private static let names = "branding (how names are written)"

    /// Puts back the regimes, since standings of signers belong to them by position, fetching, and the limit of the store.
    ///
    /// The rules of signers are those of `next`.
    private func restoreTrust(in next: inout HeraldConfiguration) -> [String] {
        guard let running = self.running.trust, let other = next.trust else {
            guard (self.running.trust == nil) != (next.trust == nil) else { return [] }
            next.trust = self.running.trust
            return ["trust"]
        }
        var changed: [String] = []
        if other.regimes.map(\.regime) != running.regimes.map(\.regime) {
            changed.append("trust.regimes")
            next.trust?.regimes = running.regimes
        }
        if other.fetches != running.fetches {
            changed.append("trust.fetch")
            next.trust?.fetches = running.fetches
        }
        if other.signers != running.signers {
            changed.append("trust.signers")
            next.trust?.signers = running.signers
        }
        return changed
    }

    /// Puts back the settings of logos that the server for phones has from its start.
    private func restorePhones(in next: inout HeraldConfiguration) -> [String] {
        guard let running = running.logos, next.logos != nil else { return [] }
        var changed: [String] = []
        func keep<Part: Equatable>(_ name: String, _ part: WritableKeyPath<HeraldConfiguration.Logos, Part>) {
            guard next.logos?[keyPath: part] != running[keyPath: part] else { return }
            changed.append("logos.\(name)")
            next.logos?[keyPath: part] = running[keyPath: part]
        }
        keep("phones", \.phones)
        keep("pictures", \.servesPictures)
        keep("phonebook", \.servesPhonebook)
        keep("phonebook_contacts", \.phonebookContacts)
        guard running.servesPictures || running.servesPhonebook else { return changed }
        keep("format", \.format)
        keep("sizes", \.sizes)
        keep("public_url", \.publicURL)
        return changed
    }
}
