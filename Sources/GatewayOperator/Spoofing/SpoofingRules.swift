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
        let brands = Dictionary(grouping: known, by: Owner.init)
        return brands.flatMap { owner, rows in alarms(of: day, owner, rows) }
            .sorted {
                ($0.brand, $0.customer ?? "", $0.kind.rawValue) < ($1.brand, $1.customer ?? "", $1.kind.rawValue)
            }
    }

    /// A brand with its customer.
    private struct Owner: Hashable {
        let brand: String
        let id: String?
        let customer: String?

        init(_ arrivals: BrandArrivals) {
            (brand, id, customer) = (arrivals.brand, arrivals.brandID, arrivals.customer)
        }
    }

    private var learningDays: Int64 { settings.learning.components.seconds / 86_400 }

    private func alarms(of day: Int64, _ owner: Owner, _ rows: [BrandArrivals]) -> [SpoofingAlarm] {
        let (before, today) = (rows.filter { $0.day < day }, rows.filter { $0.day == day })
        let branded = before.filter(\.isBranded)
        guard !today.isEmpty, let begin = branded.map(\.day).min(), day - begin >= learningDays,
            Self.calls(branded) >= Self.fewest
        else { return [] }
        let usual = UsualArrivals(branded)
        return SpoofingAlarm.Kind.allCases.compactMap { kind in
            guard usual.isKnown(kind) else { return nil }
            func isUnusual(_ row: BrandArrivals) -> Bool {
                usual.isUnusual(row, kind) && !(kind == .trunk && isLearning(row.trunk, day))
            }
            let unusual = today.filter(isUnusual)
            let threshold = threshold(begin..<day, before.filter(isUnusual))
            guard Self.calls(unusual) >= threshold else { return nil }
            return alarm(kind, owner, day, unusual, threshold: threshold, usual)
        }
    }

    /// Whether a trunk is so new that its first brands are no news: the operator has added a carrier.
    private func isLearning(_ trunk: String?, _ day: Int64) -> Bool {
        guard let trunk, let first = trunks[trunk] else { return false }
        return day - first < learningDays
    }

    /// The configured least, or four standard deviations above the upper quartile of the days before.
    ///
    /// The quartile bears single bad days, and an attack becomes usual only after a quarter of the baseline.
    private func threshold(_ days: Range<Int64>, _ unusual: [BrandArrivals]) -> Int {
        let counts = Dictionary(grouping: unusual, by: \.day).mapValues(Self.calls)
        let sorted = days.map { counts[$0] ?? 0 }.sorted()
        let quartile = sorted[min(sorted.count - 1, sorted.count * 3 / 4)]
        return max(settings.calls, quartile + Int((4 * Double(quartile).squareRoot()).rounded(.up)))
    }

    private func alarm(
        _ kind: SpoofingAlarm.Kind, _ owner: Owner, _ day: Int64, _ rows: [BrandArrivals], threshold: Int,
        _ usual: UsualArrivals
    ) -> SpoofingAlarm {
        let most = SpoofingAlarm.mostListed
        let findings = Dictionary(grouping: rows) { UsualArrivals.value(of: $0, kind) }
            .map { SpoofingAlarm.Finding(name: $0.key, calls: Self.calls($0.value)) }
            .sorted { ($1.calls, $0.name) < ($0.calls, $1.name) }
        return SpoofingAlarm(
            kind: kind, brand: owner.brand, brandID: owner.id, customer: owner.customer, day: day,
            calls: Self.calls(rows), threshold: threshold, firstAt: rows.map(\.firstAt).min() ?? 0,
            lastAt: rows.map(\.lastAt).max() ?? 0, numbers: Array(Set(rows.map(\.caller)).sorted().prefix(most)),
            findings: Array(findings.prefix(most)), usual: usual.values(kind),
            examples: Array(Set(rows.map(\.example)).sorted().prefix(most)))
    }

    static func calls(_ rows: [BrandArrivals]) -> Int { rows.reduce(0) { $0 + $1.calls } }
}
