// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import Primitives

/// A time as an operator writes it: `15m`, `yesterday`, a local date and time, or ISO 8601.
///
/// A length of time counts back from now. A word or a day is a day of the clock on the wall, which a change to summer time makes an
/// hour shorter. A local time that the change back shows twice is both of them.
struct TimeWord: Hashable, Sendable {
    /// The first and the last second that it means, since 1970.
    let first: Int64
    let last: Int64

    /// The forms, for errors and pages.
    static let forms =
        "15m, 1h, 7d, today, yesterday, 2026-01-31, 2026-01-31 12:00 in local time, or 2026-01-31T12:00:00Z"

    private static let words = ["now", "today", "yesterday"]

    /// The last second of the year 9999.
    private static let lastSecond: Int64 = 253_402_300_799

    private init(_ first: Int64, through last: Int64) { (self.first, self.last) = (first, last) }

    /// Nil for any other text.
    ///
    /// - Parameter now: seconds since 1970.
    init?(_ text: String, now: Int64, in zone: LocalZone) {
        let text = String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        guard
            let found = Self.word(text, now, zone) ?? Self.length(text, now) ?? Self.date(text, zone)
                ?? Self.timeOfDay(text, now, zone) ?? Self.seconds(text)
        else { return nil }
        self = found
    }

    /// Why a text is no time, with a suggestion for a misspelt one.
    static func problem(of text: String) -> String {
        if !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }) {
            return "has no unit; write \(text)s, \(text)m or \(text)h for the time before now, "
                + "or @\(text) for seconds since 1970"
        }
        return "is no time\(NearestName.hint(text, among: words)); give \(forms)"
    }

    private static func word(_ text: String, _ now: Int64, _ zone: LocalZone) -> TimeWord? {
        let today = day(of: zone.local(now))
        return switch text.lowercased() {
        case "now": TimeWord(now, through: now)
        case "today": whole(day: today, zone)
        case "yesterday": whole(day: today - 1, zone)
        default: nil
        }
    }

    /// Units of a length in seconds; a month would have no fixed length.
    private static let units: [Substring: Double] = [
        "s": 1, "sec": 1, "second": 1, "seconds": 1, "m": 60, "min": 60, "minute": 60, "minutes": 60, "h": 3600,
        "hr": 3600, "hour": 3600, "hours": 3600, "d": 86_400, "day": 86_400, "days": 86_400, "w": 604_800,
        "week": 604_800, "weeks": 604_800,
    ]

    /// `15m`, `1h30m`, `1.5h`, `-1h`, `2 days ago`.
    private static func length(_ text: String, _ now: Int64) -> TimeWord? {
        guard let whole = text.wholeMatch(of: /-?((?:[0-9]{1,9}(?:\.[0-9]{1,3})? ?[a-z]+ ?)+?)(?: ?ago)?/)
        else { return nil }
        var total = 0.0
        for part in whole.1.matches(of: /([0-9.]+) ?([a-z]+)/) {
            guard let count = Double(part.1), let unit = units[part.2] else { return nil }
            total += count * unit
        }
        // A longer time begins before any ledger.
        guard total <= 100 * 366 * 86_400 else { return nil }
        let moment = now - Int64(total.rounded())
        return TimeWord(moment, through: moment)
    }

    /// A day, a minute or a second: local, or with `Z`, `UTC` or a difference.
    private static func date(_ text: String, _ zone: LocalZone) -> TimeWord? {
        // A plus sign of an address that nobody has encoded arrives as a blank.
        let form =
            #/
            ([0-9]{4}-[0-9]{2}-[0-9]{2}) (?: [T\ ] ([0-9]{2}:[0-9]{2}) (:[0-9]{2} (?: [.,][0-9]{1,9} )? )? )?
            (?: \ ?(Z|UTC) | ([-+\ ][0-9]{2}) :? ([0-9]{2}) )?
            /#
        guard let match = text.wholeMatch(of: form) else { return nil }
        let time = (match.2.map(String.init) ?? "00:00") + (match.3.map { String($0.prefix(3)) } ?? ":00")
        guard let local = Timestamp.seconds(from: "\(match.1)T\(time)Z"), (0...lastSecond).contains(local),
            // No 31st of February.
            Timestamp.string(from: local).hasPrefix(match.1)
        else { return nil }
        let end = local + (match.2 == nil ? 86_399 : match.3 == nil ? 59 : 0)
        if match.4 != nil { return TimeWord(local, through: end) }
        guard let hours = match.5, let minutes = match.6.flatMap({ Int64($0) }) else {
            return TimeWord(zone.first(ofLocal: local), through: zone.last(ofLocal: end))
        }
        guard let count = Int64(hours.dropFirst()), count <= 14, minutes < 60 else { return nil }
        let difference = (count * 3600 + minutes * 60) * (hours.first == "-" ? -1 : 1)
        return TimeWord(local - difference, through: end - difference)
    }

    /// A time of this day, such as `14:30`.
    private static func timeOfDay(_ text: String, _ now: Int64, _ zone: LocalZone) -> TimeWord? {
        guard let match = text.wholeMatch(of: /([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?/), let hour = Int64(match.1),
            let minute = Int64(match.2), let second = Int64(match.3 ?? "0"), hour < 24, minute < 60, second < 60
        else { return nil }
        let local = day(of: zone.local(now)) * 86_400 + hour * 3600 + minute * 60 + second
        return TimeWord(zone.first(ofLocal: local), through: zone.last(ofLocal: match.3 == nil ? local + 59 : local))
    }

    /// Seconds since 1970, such as `@1769860800`.
    private static func seconds(_ text: String) -> TimeWord? {
        guard let match = text.wholeMatch(of: /@([0-9]{1,12})/), let seconds = Int64(match.1), seconds <= lastSecond
        else {
            return nil
        }
        return TimeWord(seconds, through: seconds)
    }

    /// The day of a local time, counted from 1970-01-01.
    private static func day(of local: Int64) -> Int64 { (local >= 0 ? local : local - 86_399) / 86_400 }

    private static func whole(day: Int64, _ zone: LocalZone) -> TimeWord {
        TimeWord(zone.first(ofLocal: day * 86_400), through: zone.last(ofLocal: day * 86_400 + 86_399))
    }
}
