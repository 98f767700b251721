// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayStore
import Host

/// Checks the calls of the last hour, or the newest ones of a busy gateway: whether brands are missing for a cause of this site,
/// and whether the PBX rejects calls.
///
/// A gateway is ready, and each of its peers responds, while a wrong region or a wrong dial plan spoils every call.
struct DoctorCalls {
    /// Seconds whose calls are read, and the most of them.
    private static let (span, most): (Int64, Int) = (3_600, 2_000)
    /// Fewest calls of a trunk, and smallest share of its calls, that are worth a warning.
    private static let (fewest, leastShare) = (3, 0.5)
    /// Reasons that a site can end. Gates and old records are findings of the running gateway.
    private static let remediable: [PassThroughReason] = [
        .untrusted, .failedVerification, .numberUnclear, .trimmed, .policy, .alreadyBranded, .nameSource,
    ]

    /// Statuses of a person or a telephone, not of a wrong configuration.
    private static let busyOrDeclined: Set<Int> = [486, 600, 603, 607, 608]

    let findings: [DoctorFinding]

    /// Reads the ledger; without one there is no finding.
    ///
    /// - Parameter now: seconds since 1970.
    init(_ configuration: HeraldConfiguration, at now: Int64 = Int64(Date().timeIntervalSince1970)) {
        var filter = CallFilter()
        filter.since = now - Self.span
        guard let ledger = try? HeraldDatabase.ledgerReader(folder: configuration.state),
            let calls = try? LedgerReader(ledger).calls(matching: filter, limit: Self.most)
        else {
            findings = []
            return
        }
        findings = Self.findings(calls)
    }

    /// - Parameter calls: the newest first.
    static func findings(_ calls: [LedgerCallRow]) -> [DoctorFinding] {
        let inbound = calls.filter { $0.direction == "inbound" }
        guard !inbound.isEmpty else { return [] }
        let branded = inbound.count { $0.decision == "matched" }
        // At the limit the calls of the hour are not all there.
        let scope = calls.count < most ? "in the last hour" : "among the newest \(most) calls"
        let summary = DoctorFinding(
            "calls", .ok,
            "\(inbound.count == 1 ? "1 call" : "\(inbound.count) calls") of trunks \(scope), \(branded) with a brand")
        let trunks = Dictionary(grouping: inbound) { $0.trunk }.sorted { ($0.key ?? "") < ($1.key ?? "") }
        return [summary] + trunks.compactMap { unbranded($0.value, $0.key, scope) }
            + trunks.compactMap { rejected($0.value, $0.key, scope) }
    }

    /// A warning if most calls of a trunk have no brand, for one cause that the site can end.
    private static func unbranded(_ calls: [LedgerCallRow], _ trunk: String?, _ scope: String) -> DoctorFinding? {
        for reason in remediable {
            let found = calls.filter { $0.decision == reason.description }
            guard isMost(found.count, of: calls.count), let newest = found.first else { continue }
            let text = MissingBrand(reason, trunk: trunk, evidence: newest.evidence).text.text { $0 }
            return DoctorFinding(
                "calls", .warning,
                """
                \(found.count) of \(calls.count) calls of \(name(trunk)) \(scope) had no brand (\(reason)): \(text) \
                The latest one: herald calls show \(newest.callID)
                """)
        }
        return nil
    }

    /// A warning if most calls of a trunk end with one failure before a phone rings.
    private static func rejected(_ calls: [LedgerCallRow], _ trunk: String?, _ scope: String) -> DoctorFinding? {
        let failed = calls.filter { call in
            let status = call.status ?? 0
            return call.answeredAt == nil && call.ringingAt == nil && call.cancelledAt == nil && status >= 400
                && !busyOrDeclined.contains(status)
        }
        let byStatus = Dictionary(grouping: failed) { $0.status ?? 0 }
        guard let (status, found) = byStatus.max(by: { ($0.value.count, $1.key) < ($1.value.count, $0.key) }),
            isMost(found.count, of: calls.count), let newest = found.first
        else { return nil }
        return DoctorFinding(
            "calls", .warning,
            """
            \(found.count) of \(calls.count) calls of \(name(trunk)) \(scope) ended with \(status) before a phone rang: \
            \(remedy(status)). The latest one: herald calls show \(newest.callID)
            """)
    }

    private static func remedy(_ status: Int) -> String {
        switch status {
        case 404, 484, 604: "the PBX does not know the called number; check its inbound routes"
        case 401, 403, 407: "the PBX does not accept Herald; add Herald's address to its trunk"
        case 480: "no phone of the called number is registered at the PBX"
        case 488, 606: "the PBX refuses the codecs of the call; compare those of carrier and PBX"
        case 408, 500..<600: "see herald targets, and the log of the PBX"
        default: "see the log of the PBX"
        }
    }

    private static func isMost(_ part: Int, of all: Int) -> Bool {
        part >= fewest && Double(part) >= leastShare * Double(all)
    }

    private static func name(_ trunk: String?) -> String { trunk.map { "trunk \($0)" } ?? "a removed trunk" }
}
