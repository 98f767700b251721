// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The time of the clock on the wall of a place, and its difference from UTC at each moment.
public struct LocalZone: Sendable {
    /// The difference of a moment.
    public struct Difference: Hashable, Sendable {
        /// Seconds by which the clock on the wall is ahead of UTC.
        public var seconds: Int64
        /// The abbreviation, such as `EST`; `-03` where the zone has none.
        public var name: String

        public init(seconds: Int64, name: String) { (self.seconds, self.name) = (seconds, name) }
    }

    /// The difference at a moment, in seconds since 1970.
    public let difference: @Sendable (Int64) -> Difference

    public init(_ difference: @escaping @Sendable (Int64) -> Difference) { self.difference = difference }

    /// The zone of this process: that of `TZ` as glibc reads it, else of `/etc/localtime`.
    public static let ofProcess = LocalZone { seconds in
        var (time, parts) = (time_t(seconds), tm())
        guard localtime_r(&time, &parts) != nil else { return Difference(seconds: 0, name: "UTC") }
        return Difference(seconds: Int64(parts.tm_gmtoff), name: parts.tm_zone.map { String(cString: $0) } ?? "")
    }

    public static let utc = LocalZone { _ in Difference(seconds: 0, name: "UTC") }
}

// As text.
extension LocalZone {
    /// Whether the clock on the wall shows UTC at a moment.
    public func isUTC(at seconds: Int64) -> Bool { difference(seconds).seconds == 0 }

    /// The zone's name at a moment: `UTC`, `EST`, or `UTC-03:00` where it has no abbreviation.
    public func name(at seconds: Int64) -> String {
        let difference = difference(seconds)
        if difference.seconds == 0 { return "UTC" }
        let isNamed = difference.name.unicodeScalars.contains { ("A"..."Z").contains($0) || ("a"..."z").contains($0) }
        return isNamed ? difference.name : "UTC" + Self.offset(difference.seconds)
    }

    /// `2026-01-31 07:00:05 EST`.
    public func text(_ seconds: Int64) -> String { "\(wall(seconds)) \(name(at: seconds))" }

    /// `2026-01-31 07:00:05`, without the zone.
    public func wall(_ seconds: Int64) -> String {
        let (date, time) = Self.parts(local(seconds))
        return "\(date) \(time)"
    }

    /// The time in UTC beside a local one: `12:00:05 UTC`, with the date where it is another one; nil where the wall shows UTC.
    public func utc(beside seconds: Int64) -> String? {
        if isUTC(at: seconds) { return nil }
        let text = Self.utc.text(seconds)
        return text.prefix(10) == wall(seconds).prefix(10) ? String(text.dropFirst(11)) : text
    }

    /// `2026-01-31 07:00:05 EST (12:00:05 UTC)`; where the wall shows UTC, that alone.
    public func withUTC(_ seconds: Int64) -> String {
        text(seconds) + (utc(beside: seconds).map { " (\($0))" } ?? "")
    }

    /// `07:00:05`.
    public func timeOfDay(_ seconds: Int64) -> String { String(wall(seconds).suffix(8)) }

    /// `2026-01-31T07:00:05-05:00` (RFC 3339).
    public func timestamp(_ seconds: Int64) -> String {
        let difference = difference(seconds).seconds
        let (date, time) = Self.parts(seconds + difference)
        return "\(date)T\(time)\(difference == 0 ? "Z" : Self.offset(difference))"
    }

    private static func offset(_ seconds: Int64) -> String {
        let minutes = abs(seconds) / 60
        return "\(seconds < 0 ? "-" : "+")\(digits(minutes / 60, 2)):\(digits(minutes % 60, 2))"
    }

    /// 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z: four digits hold these years.
    private static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// Date and time of day of a time in UTC; years outside of 1 to 9999 are written as the nearest of these.
    private static func parts(_ seconds: Int64) -> (date: String, time: String) {
        var (time, parts) = (time_t(min(max(seconds, range.lowerBound), range.upperBound)), tm())
        gmtime_r(&time, &parts)
        func two(_ number: Int32) -> String { digits(Int64(number), 2) }
        return (
            "\(digits(Int64(parts.tm_year) + 1900, 4))-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))",
            "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        )
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}

// From the wall to UTC. A local time is the number of seconds that UTC has when it shows the same.
extension LocalZone {
    /// The first moment at which the wall shows a local time or, where a change skips it, the moment of the change.
    public func first(ofLocal local: Int64) -> Int64 { moments(ofLocal: local).first ?? change(skipping: local) }

    /// The last moment at which the wall shows a local time or, where a change skips it, the moment before the change.
    public func last(ofLocal local: Int64) -> Int64 { moments(ofLocal: local).last ?? change(skipping: local) - 1 }

    /// The local time of a moment.
    public func local(_ seconds: Int64) -> Int64 { seconds + difference(seconds).seconds }

    /// Two moments in an hour that a change repeats, none in one that it skips.
    private func moments(ofLocal local: Int64) -> [Int64] {
        candidates(local).filter { self.local($0) == local }
    }

    /// The local time by the differences of the day before and the day after, in order.
    private func candidates(_ local: Int64) -> [Int64] {
        Set([-86_400, 86_400].map { local - difference(local + $0).seconds }).sorted()
    }

    /// The moment at which the wall jumps over a local time.
    private func change(skipping local: Int64) -> Int64 {
        let candidates = candidates(local)
        guard var before = candidates.first, var after = candidates.last else { return local }
        let earlier = difference(before).seconds
        while before + 1 < after {
            let middle = before + (after - before) / 2
            if difference(middle).seconds == earlier { before = middle } else { after = middle }
        }
        return after
    }
}
