// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewaySync
import Host
import Primitives
import Trust

/// Checks files, lists and signers of the regimes under which trunks verify signed calls; blocks.
struct DoctorTrust {
    private static let day: Int64 = 86_400
    /// Seconds before the end of an anchor and of a list of authorities in which a warning is due.
    private static let (anchorNotice, listNotice) = (30 * day, 7 * day)
    /// Age of a decision on signers at which a warning is due.
    private static let oldestDecision = 8 * day
    /// The most anchors of one regime that have a finding each.
    private static let mostAnchors = 5

    private let configuration: HeraldConfiguration
    private let trust: StoredTrust
    private let sources: RegimeSources
    /// Regimes with their files that a trunk verifies under.
    private let used: [RegimeSources.Files]
    private let now: Int64

    /// None without `trust`.
    ///
    /// - Parameter now: Unix seconds.
    static func findings(
        _ configuration: HeraldConfiguration, at now: Int64 = Int64(Date().timeIntervalSince1970)
    ) -> [DoctorFinding] {
        guard let settings = configuration.trust else { return [] }
        do throws(CommandFailure) {
            return DoctorTrust(configuration, settings, try StoredTrust.read(configuration.state), now).findings
        } catch {
            return [
                warning(
                    "\(error); from its next start on herald finds no signer, and signed calls are signer_not_yet_known"
                )
            ]
        }
    }

    /// The clock as the tokens of a running gateway show it, and the reason why its calls find no signers.
    static func running(_ trust: GatewayStatus.Trust?) -> [DoctorFinding] {
        var findings = (trust?.problem).map { [warning($0)] } ?? []
        if let offset = trust?.clockOffset, abs(offset) > TrustMemory.clockTolerance {
            findings.append(
                warning(
                    "this machine's clock is \(abs(offset)) s \(offset > 0 ? "behind" : "ahead of") the tokens of most "
                        + "signers: stale and early tokens count as none, with the cause clock_suspect; set the clock with "
                        + "timedatectl set-ntp true, or install chrony"))
        }
        return findings
    }

    private init(
        _ configuration: HeraldConfiguration, _ settings: HeraldConfiguration.TrustSettings, _ trust: StoredTrust,
        _ now: Int64
    ) {
        (self.configuration, self.trust, self.now) = (configuration, trust, now)
        sources = RegimeSources(settings.regimes)
        let names = Set(
            configuration.trunks.compactMap { configuration.signatures(of: $0) }.flatMap(\.policy.regimes).map(\.name))
        used = sources.regimes.filter { names.contains($0.regime.name) }
    }

    private var findings: [DoctorFinding] {
        // The remark of the configuration has the causes.
        guard !used.isEmpty else { return [] }
        let found =
            countries + files + anchorEnds + authorityLists + revocationLists + listFetches + signers + newProviders
            + fetches
        guard found.allSatisfy({ $0.level == .note }) else { return found }
        let counts = used.map { "\(good($0.regime)) count under \($0.regime.name)" }
        return found + [
            DoctorFinding("trust", .ok, "\(trust.signers.count) signers: \(counts.joined(separator: ", "))")
        ]
    }

    /// Lists with an address whose fetches fail, that were not fetched yet, or whose login cannot be read.
    private var listFetches: [DoctorFinding] {
        let lists = ListAddress.all(of: configuration.trust?.regimes ?? [])
        let names = Set(used.map(\.regime.name))
        return lists.filter { !names.isDisjoint(with: $0.names) }.flatMap { list -> [DoctorFinding] in
            var findings: [DoctorFinding] = []
            do throws(CertificateProblem) {
                _ = try list.authorizationValue()
            } catch {
                findings.append(Self.warning("the \(list.title) needs a login: \(error); see list_authorization_file"))
            }
            guard let state = trust.listFetches[list.address] else {
                return findings + [
                    Self.note("the \(list.title) is not fetched yet: a running gateway does so within a minute")
                ]
            }
            let words = ListFetchWords(state)
            guard words.hasFailed else { return findings }
            return findings + [
                Self.warning(
                    "the \(list.title): \(words.text); later authorities and revocations do not count: correct the address, or "
                        + "import the list with herald trust import FILE")
            ]
        }
    }

    /// Certificates that end soon and whose refreshes fail, and addresses whose certificate could not be fetched.
    private var fetches: [DoctorFinding] {
        let failed = trust.fetches.values.filter { $0.cause != nil }.sorted { $0.address < $1.address }
        let soon = Set(
            trust.signers.filter { now < $0.validity.upperBound && $0.validity.upperBound < now + Self.listNotice }
                .compactMap(\.address))
        var findings: [DoctorFinding] = []
        let ending = failed.filter { soon.contains($0.address) }
        if let first = ending.first {
            findings.append(
                Self.warning(
                    "\(ending.count) fetched certificates end within 7 days, and their refreshes fail, such as "
                        + "\(TerminalText.visible(first.address)): \(first.reason); import them with herald trust import"
                ))
        }
        let unknown = failed.count { trust.unknown[$0.address] != nil }
        if unknown > 0 {
            findings.append(
                Self.note(
                    "\(unknown) addresses of signers have no certificate that counts after a fetch; herald trust list "
                        + "--unknown has the causes"))
        }
        return findings
    }

    private static func warning(_ text: String) -> DoctorFinding { DoctorFinding("trust", .warning, text) }
    private static func note(_ text: String) -> DoctorFinding { DoctorFinding("trust", .note, text) }

    private func time(_ seconds: Int64) -> String { OperatorTime.text(seconds) }

    // MARK: Regimes of trunks

    /// Trunks with regimes for other countries than their own.
    private var countries: [DoctorFinding] { configuration.trunks.compactMap(foreignRegimes) }

    /// The first regime has the rules for calls of the trunk, and some regime should be that of its country.
    private func foreignRegimes(_ trunk: HeraldConfiguration.Trunk) -> DoctorFinding? {
        guard let regimes = configuration.signatures(of: trunk)?.policy.regimes, let region = trunk.region else {
            return nil
        }
        let code = region.callingCode
        let foreign = regimes.filter { !$0.countries.isEmpty && !$0.countries.contains(code) }
        let hasOwn = regimes.contains { $0.countries.contains(code) }
        guard let regime = foreign.first, !hasOwn || regime.name == regimes[0].name else { return nil }
        let codes = regime.countries.map(String.init).joined(separator: ", ")
        return Self.warning(
            "trunk \(trunk.name) has the region \(region), country code \(code), and its regime \(regime.name) is for "
                + "\(codes): tokens are judged by the rules of another country; set regimes of the trunk")
    }

    // MARK: Files

    /// Files of the regimes that cannot be used, and regimes that name no anchor.
    private var files: [DoctorFinding] {
        let anchors = sources.anchors(trust)
        return used.flatMap { files in
            let name = files.regime.name
            let hasList = !RegimeSources.listed(files.regime, trust).isEmpty
            let obstacles = sources.obstacles.filter { $0.regime == name }
            let own = anchors[files.regime.position]
            let findings = obstacles.map { finding($0, hasList: hasList, own) }
            let isExplained = obstacles.contains { $0.key == "anchors" }
            guard files.anchors.isEmpty, !hasList, !isExplained else { return findings }
            if let address = files.regime.listAddress {
                return findings + [
                    Self.warning(
                        "regime \(name) has no anchor, and no signer counts under it, until its list is taken in from "
                            + TerminalText.visible(address))
                ]
            }
            return findings + [
                Self.warning(
                    "regime \(name) has no anchor: no signer counts under it; name files in anchors of the regime, then run "
                        + "herald trust import")
            ]
        }
    }

    private func finding(_ obstacle: RegimeSources.Obstacle, hasList: Bool, _ own: RegimeAnchors) -> DoctorFinding {
        guard obstacle.isUnreadable else {
            return Self.warning("\(obstacle); correct the file, then run herald trust import")
        }
        switch obstacle.key {
        case "crl" where hasRevocationList(own): return Self.note("\(obstacle); the stored list is in use")
        case "crl":
            return Self.warning(
                "\(obstacle): revoked signers count; put the list there, or take it in with herald trust import FILE")
        case "crl_signer":
            return Self.warning(
                "\(obstacle): no revocation list of its signer counts; put the certificate there, then run herald trust "
                    + "import")
        case "list_root":
            return Self.warning(
                "\(obstacle): no list of authorities can be taken in; put the root there, then run herald trust import")
        default:
            guard !hasList else { return Self.note("\(obstacle); the stored list of authorities is in use") }
            return Self.warning(
                "\(obstacle): signers below it do not count; put the file there, then run herald trust import")
        }
    }

    /// Whether a stored revocation list is by a signer of the regime.
    private func hasRevocationList(_ own: RegimeAnchors) -> Bool {
        let policy = ChainPolicy([own], issuers: trust.issuers, at: now)
        return trust.revocationLists.contains { stored in
            RevocationList(der: stored.der).flatMap { policy.signer(of: $0) } != nil
        }
    }

    // MARK: Ends

    /// Anchors and roots of lists that have ended or end soon.
    private var anchorEnds: [DoctorFinding] {
        used.flatMap { files in
            let name = files.regime.name
            return ends(
                of: files.anchors, "anchor of regime \(name)",
                "its signers count no more once they are decided anew; replace it in the files of anchors")
                + ends(
                    of: RegimeSources.listed(files.regime, trust), "listed anchor of regime \(name)",
                    "its signers count no more once they are decided anew; import a newer list of authorities")
                + ends(
                    of: files.roots, "list_root of regime \(name)",
                    "no list of authorities can be taken in after it; replace the file")
        }
    }

    private func ends(of certificates: [[UInt8]], _ owner: String, _ effect: String) -> [DoctorFinding] {
        let due = Set(certificates).compactMap { CertificateSummary(der: $0) }
            .filter { $0.end < now + Self.anchorNotice }.sorted { ($0.end, $0.subject) < ($1.end, $1.subject) }
        let findings = due.prefix(Self.mostAnchors).map { certificate in
            Self.warning(
                "\(owner) \(certificate.end < now ? "ended at" : "ends at") \(time(certificate.end)), "
                    + "\(certificate.subject): \(effect)")
        }
        let others = due.count - findings.count
        return findings + (others > 0 ? [Self.warning("\(others) more of the \(owner) end within 30 days")] : [])
    }

    private var authorityLists: [DoctorFinding] {
        let names = Set(used.map(\.regime.name))
        return trust.authorityLists.filter { names.contains($0.regime) && $0.expires < now + Self.listNotice }.map {
            Self.warning(
                "the list of authorities of regime \($0.regime) \($0.expires <= now ? "ended at" : "ends at") "
                    + "\(time($0.expires)): it stays in use, without later changes; import a new one with herald trust "
                    + "import FILE")
        }
    }

    private var revocationLists: [DoctorFinding] {
        RevocationEnd.earliest(of: trust.revocationLists).filter { $0.next < now }.map { list in
            Self.warning(
                "the revocation list of \(list.issuer) ended at \(time(list.next)): \(effect(ofEnd: list.next)); "
                    + "import a new one with herald trust import FILE")
        }
    }

    /// Until when a revocation list past its end counts, by `crl_stale` of the regimes.
    private func effect(ofEnd end: Int64) -> String {
        let strict = used.map(\.regime).filter { $0.staleRevocation == .asUnsigned }.map(\.name)
        let last = end + ChainPolicy.grace
        guard now <= last, strict.count < used.count else { return "its signers have the cause crl_stale" }
        let exception = strict.isEmpty ? "" : ", and no more under \(strict.joined(separator: ", "))"
        return "it counts until \(time(last))" + exception
    }

    // MARK: Signers

    /// The signers that count under a regime.
    private func good(_ regime: TrustRegime) -> Int { trust.signers.count { $0.counts(under: regime.position) } }

    private var signers: [DoctorFinding] {
        guard !trust.signers.isEmpty else {
            return [
                Self.warning(
                    "no signer is stored: each signed call has the cause signer_not_yet_known; take in certificates with "
                        + "herald trust import FILE")
            ] + waiting
        }
        guard trust.regimes == sources.fingerprint else {
            return [
                Self.warning(
                    "the signers were decided for other regimes or files: run herald trust import without a file")
            ] + waiting
        }
        return uncounted + old + ended + waiting
    }

    /// Brands whose number a provider has signed lately for the first time, without the number.
    private var newProviders: [DoctorFinding] {
        // Another check reports a ledger that cannot be read.
        guard let database = try? HeraldDatabase.ledgerReader(folder: configuration.state),
            let found = try? LedgerReader(database).providersOfBrands(
                newSince: now - SignedCallsListing.newDays * Self.day, since: now - SignedCallsListing.days * Self.day),
            let first = found.first
        else { return [] }
        let provider =
            SignatureSteps.isNumber(first.provider) ? "a signer of numbers" : TerminalText.visible(first.provider)
        let others = found.count == 1 ? "" : ", and \(found.count - 1) more"
        return [
            Self.note(
                "\(provider) has signed a number of \(TerminalText.visible(first.brand)) since "
                    + "\(time(first.firstAt / 1_000_000)), and another provider before\(others): the brand has another carrier, "
                    + "or somebody borrows its number; see herald trust list --calls")
        ]
    }

    private var uncounted: [DoctorFinding] {
        used.map(\.regime).filter { good($0) == 0 }.map {
            Self.warning(
                "none of \(trust.signers.count) signers counts under \($0.name): see the causes with herald trust list")
        }
    }

    private var old: [DoctorFinding] {
        let age = now - trust.decidedAt
        guard age > Self.oldestDecision else { return [] }
        return [
            Self.warning(
                "the signers were decided \(AgeText.text(age)) ago: later ends and revocations do not count; run herald "
                    + "trust import without a file")
        ]
    }

    private var ended: [DoctorFinding] {
        let count = trust.signers.count { $0.validity.upperBound < now }
        guard count > 0 else { return [] }
        return [
            Self.note(
                "\(count) of \(trust.signers.count) signers \(count == 1 ? "has" : "have") ended: tokens of an ended signer are "
                    + "certificate_expired; import new chains")
        ]
    }

    private var waiting: [DoctorFinding] {
        let count = trust.unknown.count
        guard count > 0 else { return [] }
        return [
            Self.note(
                "\(count == 1 ? "1 address waits" : "\(count) addresses wait") for a certificate: herald trust list "
                    + "--unknown; import the chains")
        ]
    }
}
