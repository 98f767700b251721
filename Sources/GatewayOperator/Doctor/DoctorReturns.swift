// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import GatewayConfiguration
import GatewayStore
import Host

/// Checks whether calls back can be recognised: a PBX that calls out with a number that nobody calls returns no call.
///
/// A company often shows its main number, or one user of the PBX, on every outbound call.
struct DoctorReturns {
    /// The latest calls that are read.
    private static let most = 2_000
    /// Fewest calls of a number, and smallest share of the outbound calls, that are worth a finding.
    private static let (fewest, leastShare) = (5, 0.2)

    let findings: [DoctorFinding]

    /// Reads the ledger; without one there is no finding.
    init(_ configuration: HeraldConfiguration) {
        guard let policy = try? configuration.recorderSettings().returns,
            let ledger = try? HeraldDatabase.ledgerReader(folder: configuration.state),
            let calls = try? LedgerReader(ledger).calls(limit: Self.most)
        else {
            findings = []
            return
        }
        findings = Self.findings(calls, policy)
    }

    /// A finding for each name of outbound calls that no inbound call has called.
    static func findings(_ calls: [LedgerCallRow], _ policy: ReturnPolicy) -> [DoctorFinding] {
        var called: Set<String> = []
        var callers: [[String]: Int] = [:]
        var (inbound, outbound) = (0, 0)
        for call in calls {
            let record = CallRecord(call)
            if record.direction == .inbound {
                inbound += 1
                called.formUnion(policy.originalKeys(of: record))
            } else {
                let keys = policy.subscriberKeys(of: record)
                guard !keys.isEmpty else { continue }
                outbound += 1
                callers[keys, default: 0] += 1
            }
        }
        guard inbound >= fewest else { return [] }
        let unknown = callers.filter { keys, count in
            count >= fewest && Double(count) >= leastShare * Double(outbound) && called.isDisjoint(with: keys)
        }
        return unknown.sorted { ($1.value, $0.key[0]) < ($0.value, $1.key[0]) }.map { keys, count in
            let names = keys.map { $0.replacing("user:", with: "user ") }.joined(separator: ", ")
            return DoctorFinding(
                "returns", .note,
                """
                \(count) of the latest \(outbound) outbound calls have the caller \(names), which no inbound call has \
                called: as calls back they are not reported as returned; put the caller and the called numbers into one \
                group of outcomes.subscribers
                """)
        }
    }
}

extension CallRecord {
    /// The parties of a listed call, as far as calls back need them.
    fileprivate init(_ row: LedgerCallRow) {
        self.init(
            call: CallIdentifier(high: 0, low: 0), direction: row.direction == "inbound" ? .inbound : .outbound,
            caller: row.caller.flatMap { E164Number($0) }, destination: row.destination.flatMap { E164Number($0) },
            subscriber: row.subscriber ?? "", customer: row.customer, inviteAt: row.inviteAt)
        alsoCalled = (row.alsoCalled ?? []).map { name in
            let number = E164Number(name)
            return CalledParty(number: number, user: number == nil ? name : "")
        }
    }
}
