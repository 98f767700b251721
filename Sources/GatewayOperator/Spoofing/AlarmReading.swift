// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayStore

/// The alarms of some days up to one, read from the ledger piece by piece. Safe from any thread.
struct AlarmReading: Sendable {
    private let settings: HeraldConfiguration.Alarms
    private let days: Int64
    private let today: Int64
    private let reading: ArrivalsReading

    /// - Parameters:
    ///   - days: the number of days, 1 or more.
    ///   - now: seconds since 1970.
    init(_ settings: HeraldConfiguration.Alarms, days: Int64, now: Int64) {
        (self.settings, self.days, today) = (settings, days, now / 86_400)
        let first = today - days + 1
        reading = ArrivalsReading(
            since: first * 86_400 - settings.baseline.components.seconds, firstDetailed: first)
    }

    /// Reads the next piece; false if nothing is left.
    func next(_ reader: LedgerReader) throws -> Bool { try reading.next(reader) }

    /// The alarms of the pieces that were read, the latest day first.
    var alarms: [SpoofingAlarm] {
        // A trunk that carried calls before the span is not new.
        let rules = SpoofingRules(settings: settings, trunks: reading.firstDaysOfTrunks)
        let arrivals = reading.arrivals
        return (0..<days).flatMap { rules.alarms(of: today - $0, arrivals) }
    }
}

extension LedgerReader {
    /// The alarms of some days up to one, as `AlarmReading` has them.
    func spoofingAlarms(
        _ settings: HeraldConfiguration.Alarms, days: Int64, now: Int64
    ) throws -> [SpoofingAlarm] {
        let reading = AlarmReading(settings, days: days, now: now)
        while try reading.next(self) {}
        return reading.alarms
    }
}

extension LedgerQueue {
    /// The same; a cancelled task ends after a piece.
    ///
    /// - Throws: an error of the ledger, or `CancellationError`.
    func spoofingAlarms(
        _ settings: HeraldConfiguration.Alarms, days: Int64, now: Int64
    ) async throws -> [SpoofingAlarm] {
        let reading = AlarmReading(settings, days: days, now: now)
        while try await read({ try reading.next($0) }) { try Task.checkCancellation() }
        return try await read { _ in reading.alarms }
    }
}
