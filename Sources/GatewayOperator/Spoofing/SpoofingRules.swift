// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import GatewayStore

/// Compares the arrivals of one day with those that are usual for each brand; pure.
///
/// Only branded calls teach a usual trunk, attestation or provider: a spoofed call without a brand cannot become usual.
struct SpoofingRules {
    let settings: HeraldConfiguration.Alarms
    /// The day of each trunk's first call, in days since 1970.
    let trunks: [String: Int64]

    /// Branded calls below which a brand has no usual week. One of twenty is the coarsest share above chance.
    static let fewest = 20
    /// A value is usual if one branded call of a hundred has it: a second carrier for overflow takes that many.
    static let usualShare = 100

    /// The alarms of a day, by brand and kind.
    ///
    /// - Parameter day: days since 1970, in UTC.
    func alarms(of day: Int64, _ arrivals: [BrandArrivals]) -> [SpoofingAlarm] {
        let span = day - settings.baseline.components.seconds / 86_400
        let known = arrivals.filter { $0.day >= span && $0.day <= day }
        let brands = Dictionary(grouping: known, by: \.owner)
        return brands.flatMap { owner, rows in alarms(of: day, owner, rows) }
            .sorted {
                ($0.brand, $0.customer ?? "", $0.kind.rawValue) < ($1.brand, $1.customer ?? "", $1.kind.rawValue)
            }
    }

    private var learningDays: Int64 { settings.learning.components.seconds / 86_400 }

    private func alarms(of day: Int64, _ owner: BrandArrivals.Owner, _ rows: [BrandArrivals]) -> [SpoofingAlarm] {
        let (before, today) = (rows.filter { $0.day < day }, rows.filter { $0.day == day })
        let branded = before.filter(\.way.isBranded)
        guard !today.isEmpty, let begin = branded.map(\.day).min(), day - begin >= learningDays,
            Self.calls(branded) >= Self.fewest
        else { return [] }
        let usual = UsualArrivals(branded)
        let byDay = Dictionary(grouping: before, by: \.day)
        return SpoofingAlarm.Kind.allCases.compactMap { kind in
            guard usual.isKnown(kind) else { return nil }
            func isUnusual(_ row: BrandArrivals) -> Bool {
                usual.isUnusual(row, kind) && !(kind == .trunk && isLearning(row.way.trunk, day))
            }
            let unusual = today.filter(isUnusual)
            let others = Self.calls(today) - Self.calls(unusual)
            let threshold = threshold((begin..<day).map { DayCounts(byDay[$0] ?? [], isUnusual) }, others: others)
            guard Self.calls(unusual) >= threshold else { return nil }
            return alarm(kind, owner, day, unusual, threshold: threshold, usual)
        }
    }

    /// Whether a trunk is so new that its first brands are no news: the operator has added a carrier.
    private func isLearning(_ trunk: String?, _ day: Int64) -> Bool {
        guard let trunk, let first = trunks[trunk] else { return false }
        return day - first < learningDays
    }

    /// The configured least, or four standard deviations above the usual number of unusual calls.
    ///
    /// That number is the upper quartile of the days before. A day of many calls has more: the upper quartile of the shares, by
    /// the calls that have them. Quartiles bear single bad days, and an attack becomes usual only after a quarter of the baseline.
    ///
    /// - Parameter others: the day's calls that are not unusual.
    private func threshold(_ days: [DayCounts], others: Int) -> Int {
        let counts = days.map(\.unusual).sorted()
        let usual = max(Double(counts[min(counts.count - 1, counts.count * 3 / 4)]), share(days) * Double(others))
        return max(settings.calls, Int((usual + 4 * usual.squareRoot()).rounded(.up)))
    }

    /// The share of unusual calls at or below which three quarters of the other calls are.
    private func share(_ days: [DayCounts]) -> Double {
        let days = days.filter { $0.others > 0 }
        let most = days.reduce(0) { $0 + $1.others } * 3
        var sum = 0
        for day in days.sorted(by: { $0.share < $1.share }) {
            sum += day.others * 4
            if sum >= most { return day.share }
        }
        return 0
    }

    /// The calls of a brand on one day before.
    private struct DayCounts {
        let unusual: Int
        let others: Int

        var share: Double { Double(unusual) / Double(others) }

        init(_ rows: [BrandArrivals], _ isUnusual: (BrandArrivals) -> Bool) {
            unusual = SpoofingRules.calls(rows.filter(isUnusual))
            others = SpoofingRules.calls(rows) - unusual
        }
    }

    private func alarm(
        _ kind: SpoofingAlarm.Kind, _ owner: BrandArrivals.Owner, _ day: Int64, _ rows: [BrandArrivals], threshold: Int,
        _ usual: UsualArrivals
    ) -> SpoofingAlarm {
        let most = SpoofingAlarm.mostListed
        let findings = Dictionary(grouping: rows) { UsualArrivals.value(of: $0, kind) }
            .map { SpoofingAlarm.Finding(name: $0.key, calls: Self.calls($0.value)) }
            .sorted { ($1.calls, $0.name) < ($0.calls, $1.name) }
        return SpoofingAlarm(
            kind: kind, brand: owner.brand, brandID: owner.brandID, customer: owner.customer, day: day,
            calls: Self.calls(rows), threshold: threshold, firstAt: rows.map(\.firstAt).min() ?? 0,
            lastAt: rows.map(\.lastAt).max() ?? 0, numbers: Array(Set(rows.flatMap(\.callers)).sorted().prefix(most)),
            findings: Array(findings.prefix(most)), usual: usual.values(kind),
            examples: Array(Set(rows.flatMap(\.examples)).sorted().prefix(most)))
    }

    static func calls(_ rows: [BrandArrivals]) -> Int { rows.reduce(0) { $0 + $1.calls } }
}
