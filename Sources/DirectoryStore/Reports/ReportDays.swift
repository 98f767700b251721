// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import Primitives

/// The zone of a report's days, and the local time at which such a day begins.
package struct ReportDays: Hashable, Sendable {
    /// The zone of days and months: that of the bill.
    package static let zone = "UTC"

    /// Such as `Days and months are in UTC, as on the bill. Here a day begins at 01:00 CET.`
    package let text: String

    /// - Parameters:
    ///   - month: such as `2026-01`; another text gives the zone alone.
    ///   - zone: the local time of the reader.
    package init(of month: String, in zone: LocalZone) {
        let named = "Days and months are in \(Self.zone), as on the bill."
        let begins = Self.begins(month, zone)
        guard let first = begins.first, begins.contains(where: { $0.text != Self.midnight }) else {
            text = named
            return
        }
        let later = begins.dropFirst().map { ", from \($0.day) at \($0.text)" }
        text = "\(named) Here a day begins at \(first.text)\(later.joined())."
    }

    private static let midnight = "00:00 \(zone)"

    /// The days from which days begin at another local time, with that time; the first day of the month is one.
    private static func begins(_ month: String, _ zone: LocalZone) -> [(day: String, text: String)] {
        guard let first = Timestamp.seconds(from: month + "-01T00:00:00Z") else { return [] }
        return (0..<31).map { first + $0 * 86_400 }.reduce(into: []) { begins, begin in
            let day = String(Timestamp.string(from: begin).prefix(10))
            let text = text(begin, day, zone)
            if day.hasPrefix(month), begins.last?.text != text { begins.append((day, text)) }
        }
    }

    private static func text(_ begin: Int64, _ day: String, _ zone: LocalZone) -> String {
        let time = "\(zone.timeOfDay(begin).prefix(5)) \(zone.name(at: begin))"
        return zone.wall(begin).hasPrefix(day) ? time : time + " on the day before"
    }
}
