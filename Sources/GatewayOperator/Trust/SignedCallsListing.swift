// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallAccounting
package import ConfigurationFiles
import Foundation
import GatewayStore
package import Host
package import Primitives

/// `herald trust list --calls`: the calls of each signer by outcome, and signers that are new to a brand's number.
package struct SignedCallsListing {
    /// Days that the listing covers.
    static let days: Int64 = 30
    /// Days in which a signer is new.
    static let newDays: Int64 = 7

    private let calls: [ProviderCalls]
    private let new: [NewProvider]

    /// Reads the ledger beside a running gateway.
    ///
    /// - Parameter now: Unix seconds.
    /// - Throws: for a ledger that cannot be read.
    package init(
        _ configuration: HeraldConfiguration, now: Int64 = Int64(Date().timeIntervalSince1970)
    ) throws(CommandFailure) {
        let read = try CommandFailure.reported {
            let reader = LedgerReader(try HeraldDatabase.ledgerReader(folder: configuration.state))
            let since = now - Self.days * 86_400
            return (
                try reader.callsOfProviders(since: since),
                try reader.providersOfBrands(newSince: now - Self.newDays * 86_400, since: since)
            )
        }
        self.init(calls: read.0, new: read.1)
    }

    init(calls: [ProviderCalls], new: [NewProvider]) { (self.calls, self.new) = (calls, new) }

    /// Writes the signers and the remarks.
    package func list(_ form: TableForm, asJSON: Bool) throws {
        guard asJSON else { return Output.write(text(form)) }
        for signer in calls { try Output.write(json: json(signer)) }
    }

    private static let outcomes = CallOutcome.allCases.map(\.rawValue)

    /// The table, then a line for each new signer of a brand's number.
    func text(_ form: TableForm) -> String {
        guard !calls.isEmpty else { return "no signed calls in the last \(Self.days) days\n" }
        let shown = Self.outcomes.filter { outcome in calls.contains { $0.outcomes[outcome] != nil } }
        var table = TextTable(
            ["SIGNS FOR", "CALLS", "A", "B", "C"] + shown + ["UNDER 6 S", "UNWANTED"], form,
            wideOnly: Set(shown.dropFirst(2)))
        for signer in calls {
            let counts =
                [signer.total] + signer.attestations + shown.map { signer.outcomes[$0] ?? 0 }
                + [signer.short, signer.unwanted]
            table.add([signer.provider] + counts.map(String.init))
        }
        return table.text
            + new.map { signer in
                TerminalText.visible(
                    "new provider: \(signer.provider) has signed \(signer.caller) of \(signer.brand) since "
                        + "\(OperatorTime.text(signer.firstAt / 1_000_000)), and another provider before") + "\n"
            }.joined()
    }

    private func json(_ signer: ProviderCalls) -> [String: JSONValue?] {
        let counts = signer.outcomes.map { ($0.key.lowercased(), JSONValue.int($0.value)) }
        let brands = new.filter { $0.provider == signer.provider }.map { found in
            JSONValue.object([
                "brand": .string(found.brand), "caller": .string(found.caller),
                "since": .string(Timestamp.string(from: found.firstAt / 1_000_000)),
            ])
        }
        return [
            "provider": .string(signer.provider), "calls": .int(signer.total),
            "outcomes": .object(Dictionary(counts, uniquingKeysWith: { $1 })), "new_for": .array(brands),
            "attestations": .object(
                Dictionary(
                    zip(["A", "B", "C"], signer.attestations.map(JSONValue.int)), uniquingKeysWith: { one, _ in one })),
            "under_6_seconds": .int(signer.short), "unwanted": .int(signer.unwanted),
        ]
    }
}
