// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Foundation
import GatewayStore
import Host
package import Primitives

/// `herald alarms list`: reads the ledger and lists the brands whose numbers arrived in an unusual way.
package struct AlarmListing {
    private let configuration: HeraldConfiguration
    private let brand: String?
    private let customer: String?

    /// - Parameters:
    ///   - brand: the whole name or the identifier of the only brand; nil for all.
    ///   - customer: the only customer; nil for all.
    package init(_ configuration: HeraldConfiguration, brand: String? = nil, customer: String? = nil) {
        (self.configuration, self.brand, self.customer) = (configuration, brand, customer)
    }

    /// Writes the alarms of some days, the latest day first.
    ///
    /// - Throws: `CommandFailure` when the ledger cannot be read.
    package func list(
        days: Int, _ form: TableForm, asJSON: Bool, now: Int64 = Int64(Date().timeIntervalSince1970)
    ) throws {
        guard configuration.alarms.isEnabled else { throw CommandFailure("alarms.enabled is false in herald.yaml") }
        let all = try CommandFailure.reported {
            try LedgerReader(try HeraldDatabase.ledgerReader(folder: configuration.state))
                .spoofingAlarms(configuration.alarms, days: Int64(days), now: now)
        }
        let alarms = all.filter { alarm in
            (brand == nil || brand == alarm.brand || brand == alarm.brandID)
                && (customer == nil || customer == alarm.customer)
        }
        if asJSON {
            for alarm in alarms { try Output.write(json: alarm.json) }
        } else {
            Output.write(Self.table(alarms, form))
        }
    }

    static func table(_ alarms: [SpoofingAlarm], _ form: TableForm) -> String {
        guard !alarms.isEmpty else { return "no alarms\n" }
        var table = TextTable(
            ["DAY", "BRAND", "CUSTOMER", "KIND", "CALLS", "FROM", "FINDINGS", "USUAL", "NUMBERS", "CALL IDS"], form,
            whole: ["DAY", "KIND", "CALLS"], wideOnly: ["CUSTOMER", "FROM", "USUAL", "NUMBERS", "CALL IDS"])
        for alarm in alarms {
            let findings = alarm.findings.map { "\($0.name) (\($0.calls))" }.joined(separator: ", ")
            table.add([
                OperatorTime.day(alarm.day), alarm.brand, alarm.customer, alarm.kind.rawValue, "\(alarm.calls)",
                "\(alarm.threshold)", findings, alarm.usual.joined(separator: ", "),
                alarm.numbers.joined(separator: " "), alarm.examples.joined(separator: " "),
            ])
        }
        return table.text
    }
}
