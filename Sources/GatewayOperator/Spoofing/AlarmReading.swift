// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayStore

extension LedgerReader {
    /// The alarms of some days up to one, the latest day first.
    ///
    /// Reads the calls of the baseline twice.
    ///
    /// - Parameters:
    ///   - days: the number of days, 1 or more.
    ///   - now: seconds since 1970.
    func spoofingAlarms(
        _ settings: HeraldConfiguration.Alarms, days: Int64, now: Int64
    ) throws -> [SpoofingAlarm] {
        let today = now / 86_400
        let since = (today - days + 1) * 86_400 - settings.baseline.components.seconds
        let arrivals = try arrivalsOfBrands(since: since)
        // A trunk that carried calls before the span is not new.
        let rules = SpoofingRules(settings: settings, trunks: try firstDaysOfTrunks(since: since))
        return (0..<days).flatMap { rules.alarms(of: today - $0, arrivals) }
    }
}
