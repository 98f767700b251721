// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import ConfigurationFiles
import Foundation
import GatewayStore
import GatewaySync
package import Host
package import Primitives
import Trust

/// `herald trust list` and `herald trust show`: the stored signers, also beside a running gateway.
package struct TrustListing {
    private let settings: HeraldConfiguration.TrustSettings
    private let trust: StoredTrust
    /// Chains that calls have brought and that are no signers, the newest first.
    private let temporary: [StoredSigner]
    private let sources: RegimeSources
    private let now: Int64

    /// - Parameters:
    ///   - configuration: has the regimes and the state folder.
    ///   - now: Unix seconds, for ends of lists.
    /// - Throws: without regimes, and for a file that cannot be read.
    package init(
        _ configuration: HeraldConfiguration, now: Int64 = Int64(Date().timeIntervalSince1970)
    ) throws(CommandFailure) {
        settings = try configuration.trustSettings()
        trust = try StoredTrust.read(configuration.state)
        temporary = try StoredTrust.temporaryChains(configuration.state)
        sources = RegimeSources(settings.regimes)
        self.now = now
    }

    private var regimes: [String] { settings.regimes.map(\.regime.name) }

    // MARK: List

    /// Writes the signers, or the addresses without a certificate.
    package func list(unknown: Bool, _ form: TableForm, asJSON: Bool) throws {
        if unknown { return try listUnknown(form, asJSON) }
        if asJSON {
            for signer in trust.signers + temporary { try Output.write(json: json(signer)) }
        } else {
            Output.write(text(form))
        }
    }

    /// The table of the signers, and the lists in force.
    func text(_ form: TableForm) -> String {
        var table = TextTable(
            ["#", "SIGNS FOR", "STANDING", "UNTIL", "SUBJECT", "ADDRESS"], form, whole: ["#"],
            wideOnly: ["UNTIL", "ADDRESS"])
        let shown = temporary.prefix(Self.mostTemporary)
        for signer in trust.signers + shown {
            table.add([
                "#\(signer.row)", TrustWords.authority(signer.signsFor),
                TrustWords.standings(signer.standings, regimes),
                OperatorTime.text(signer.validity.upperBound),
                rule(signer).map { "\(signer.subject) (\($0))" } ?? signer.subject,
                signer.address ?? (signer.isTemporary ? "in tokens, not stored" : "in tokens"),
            ])
        }
        return
            (trust.signers.isEmpty && temporary.isEmpty
            ? "no signers; herald trust import FILE takes in certificates\n" : table.text)
            + remarks.map { TerminalText.visible($0) + "\n" }.joined()
    }

    /// The most chains without certificates in the table: anybody can put chains into tokens.
    private static let mostTemporary = 20

    private func rule(_ signer: StoredSigner) -> String? {
        signer.signsFor.codes.lazy.compactMap { settings.rules[ProviderCode.folded($0)]?.rawValue }.first
    }

    /// Lists in force with their ends, missing files, and rules that have changed since the last decision.
    private var remarks: [String] {
        var lines: [String] = []
        for list in trust.authorityLists {
            let end = list.expires <= now ? "ended at" : "until"
            lines.append(
                "list of authorities of regime \(list.regime): \(AuthorityListToken.stored(list.token).count), sequence "
                    + "\(list.sequence), \(end) \(OperatorTime.text(list.expires))")
        }
        for stored in trust.revocationLists {
            guard let list = RevocationList(der: stored.der) else { continue }
            let end = list.nextUpdate.map { ($0 <= now ? ", ended at " : ", until ") + OperatorTime.text($0) } ?? ""
            lines.append("revocation list of \(list.name): \(list.count) certificates\(end)")
        }
        for list in ListAddress.all(of: settings.regimes) {
            lines.append("\(list.title): \(ListFetchWords(trust.listFetches[list.address]).text)")
        }
        if !temporary.isEmpty {
            let count = temporary.count == 1 ? "1 chain" : "\(temporary.count) chains"
            lines.append(
                "\(count) of tokens without a stored certificate, until the next decision on all signers"
                    + (temporary.count > Self.mostTemporary ? "; all of them with --json" : ""))
        }
        if !trust.unknown.isEmpty {
            lines.append("\(trust.unknown.count) addresses without a certificate: herald trust list --unknown")
        }
        if !trust.signers.isEmpty, trust.regimes != sources.fingerprint {
            lines.append("the regimes or their files have changed since the last import: run herald trust import")
        }
        return lines + rulesWithoutSigner + sources.remarks.map { "remark: \($0)" }
    }

    /// Rules for codes that no stored signer has, such as a misspelt one.
    private var rulesWithoutSigner: [String] {
        let codes = Set(trust.signers.flatMap(\.signsFor.codes).map(ProviderCode.folded))
        return settings.rules.keys.sorted().filter { !codes.contains($0) }.map {
            "remark: trust.signer has a rule for \($0), a code that no stored signer has"
        }
    }

    private func json(_ signer: StoredSigner) -> [String: JSONValue?] {
        let list = signer.signsFor
        let members: [String: JSONValue?] = [
            "row": .int(Int(signer.row)), "address": JSONValue(signer.address), "subject": .string(signer.subject),
            "codes": .array(list.codes.map(JSONValue.string)),
            "numbers": .array(
                list.ranges.map { .object(["start": .string($0.start.text), "count": .int(Int($0.count))]) }),
            "standings": .object(
                Dictionary(
                    zip(regimes, signer.standings).map { ($0, .string(TrustWords.cause($1))) },
                    uniquingKeysWith: { $1 })),
            "rule": JSONValue(rule(signer)), "not_before": JSONValue(seconds: signer.validity.lowerBound),
            "not_after": JSONValue(seconds: signer.validity.upperBound),
            "imported_at": signer.isTemporary ? nil : JSONValue(seconds: signer.importedAt),
            "temporary": .bool(signer.isTemporary),
        ]
        return members.merging(
            FetchWords(signer.address.flatMap { trust.fetches[$0] }).json, uniquingKeysWith: { $1 })
    }

    private func listUnknown(_ form: TableForm, _ asJSON: Bool) throws {
        let addresses = trust.unknown.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        if asJSON {
            for (address, time) in addresses {
                let known: [String: JSONValue?] = ["address": .string(address), "added_at": JSONValue(seconds: time)]
                try Output.write(
                    json: known.merging(FetchWords(trust.fetches[address]).json, uniquingKeysWith: { $1 }))
            }
        } else if addresses.isEmpty {
            Output.write("no addresses without a certificate\n")
        } else {
            Output.write(
                table: ["ADDED", "FETCH", "ADDRESS"], form, wideOnly: ["ADDED"],
                addresses.map { [OperatorTime.text($0.value), FetchWords(trust.fetches[$0.key]).short, $0.key] })
        }
    }

    // MARK: Show

    /// Writes why tokens of a signer count or not: chain, authority, and the reason under each regime.
    ///
    /// - Parameter text: an address, a provider code, a telephone number, or a row such as `#12`.
    package func show(_ text: String, asJSON: Bool) async throws {
        guard asJSON else { return Output.write(try await explanation(of: text)) }
        let choice = TrustChoice(text)
        for chain in temporary where choice.includes(chain) { try Output.write(json: json(chain)) }
        for signer in trust.signers.filter(choice.includes) {
            let decision = await policy.decide(signer.certificates)
            let reasons = zip(regimes, decision.standings).map { ($0, JSONValue.string($1.reason)) }
            try Output.write(
                json: json(signer).merging(
                    [
                        "issuer": .string(decision.issuer), "serial": .string(decision.serial),
                        "certificates": .int(signer.certificates.count),
                        "reasons": .object(Dictionary(reasons, uniquingKeysWith: { $1 })),
                    ], uniquingKeysWith: { $1 }))
        }
    }

    private var policy: ChainPolicy {
        ChainPolicy(
            sources.anchors(trust), issuers: trust.issuers, revocationLists: trust.revocationLists.map(\.der), at: now)
    }

    /// The text of `show`.
    func explanation(of text: String) async throws -> String {
        let choice = TrustChoice(text)
        let found = (trust.signers + temporary).filter(choice.includes)
        var lines: [String] = []
        if choice.isNumber {
            let codes = trust.signers.count { !$0.signsFor.codes.isEmpty }
            lines.append(
                "\(found.count) signers have this number in their certificate; \(codes) signers with a provider code may "
                    + "sign any number")
        } else if found.isEmpty {
            guard let time = trust.unknown[text] else {
                throw CommandFailure(
                    "no stored signer is \(TerminalText.visible(text)): tokens of it are signer_not_yet_known")
            }
            lines.append(
                "\(text) has no certificate since \(OperatorTime.text(time)): tokens of it are "
                    + "\(FetchWords(trust.fetches[text]).cause ?? TrustCause.signerNotYetKnown.name); "
                    + "import its chain with the line x5u: \(text)")
            lines += FetchWords(trust.fetches[text]).lines
        }
        let policy = self.policy
        for signer in found.prefix(20) {
            lines +=
                signer.isTemporary
                ? self.lines(of: signer) : self.lines(of: signer, await policy.decide(signer.certificates))
        }
        if found.count > 20 { lines.append("and \(found.count - 20) more") }
        return lines.map { TerminalText.visible($0) + "\n" }.joined()
    }

    /// A chain without certificates: the decision made with the call that brought it.
    private func lines(of chain: StoredSigner) -> [String] {
        var lines = [
            "#\(chain.row) \(chain.subject)",
            "  address     none; its chain came in a token, and its certificates are not stored",
            "  in force    \(OperatorTime.text(chain.validity.lowerBound)) to "
                + OperatorTime.text(chain.validity.upperBound),
            "  signs for   \(TrustWords.authority(chain.signsFor))",
        ]
        if let rule = rule(chain) { lines.append("  rule        \(rule), by trust.signer") }
        let causes = chain.standings.map { TrustWords.cause($0) }
        for (name, cause) in zip(regimes, causes) { lines.append("  under \(name): \(cause)") }
        return lines + ["  herald trust check TOKEN shows the reason"]
    }

    private func lines(of signer: StoredSigner, _ decision: ChainDecision) -> [String] {
        var lines = [
            "#\(signer.row) \(decision.subject)",
            "  address     \(signer.address ?? "none; its chain comes in tokens")",
            "  issuer      \(decision.issuer)", "  serial      \(decision.serial)",
            "  in force    \(OperatorTime.text(decision.validity.lowerBound)) to "
                + OperatorTime.text(decision.validity.upperBound)
                + (decision.validity.contains(now) ? "" : ", so its tokens are certificate_expired"),
            "  signs for   \(TrustWords.authority(signer.signsFor))",
            "  imported    \(OperatorTime.text(signer.importedAt)), \(signer.certificates.count) certificates",
        ]
        lines += FetchWords(signer.address.flatMap { trust.fetches[$0] }).lines
        if let rule = rule(signer) { lines.append("  rule        \(rule), by trust.signer") }
        if !decision.constraints.isEmpty {
            lines.append("  constraints \(decision.constraints.count) certificates limit claims")
        }
        for (name, standing) in zip(regimes, decision.standings) {
            lines.append(
                "  under \(name): \(standing.cause.name)" + (standing.reason.isEmpty ? "" : ": \(standing.reason)"))
        }
        return lines
    }
}

extension StoredSigner {
    /// Whether it is a chain of a token that is kept until the next decision alone.
    var isTemporary: Bool { row < 0 }
}

extension StoredTrust {
    /// Chains of calls in a state folder; none without a file.
    static func temporaryChains(_ folder: String) throws(CommandFailure) -> [StoredSigner] {
        try read(folder, otherwise: []) { reader throws(HeraldDatabaseError) in try reader.temporaryChains() }
    }

    /// The stored signers of a state folder; nothing without a file.
    ///
    /// - Throws: path, cause and remedy of a file that cannot be read.
    static func read(_ folder: String) throws(CommandFailure) -> StoredTrust {
        try read(folder, otherwise: StoredTrust()) { reader throws(HeraldDatabaseError) in try reader.contents() }
    }

    private static func read<Value>(
        _ folder: String, otherwise none: Value, _ work: (SignerReader) throws(HeraldDatabaseError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(HeraldDatabaseError) {
            return try work(try SignerReader(folder: folder))
        } catch {
            guard error.problem == .missing else { throw CommandFailure("\(error)") }
            return none
        }
    }
}
