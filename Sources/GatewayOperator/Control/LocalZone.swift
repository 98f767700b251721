// SPDX-License-Identifier: Apache-2.0

import Branding
import Glibc

/// The time of the clock on the wall of a place, and its difference from UTC at each moment.
package struct LocalZone: Sendable {
    /// The difference of a moment.
    package struct Difference: Hashable, Sendable {
        /// Seconds by which the clock on the wall is ahead of UTC.
        package var seconds: Int64
        /// The abbreviation, such as `EST`; `-03` where the zone has none.
        package var name: String

        package init(seconds: Int64, name: String) { (self.seconds, self.name) = (seconds, name) }
    }

    /// The difference at a moment, in seconds since 1970.
    let difference: @Sendable (Int64) -> Difference

    package init(_ difference: @escaping @Sendable (Int64) -> Difference) { self.difference = difference }

    /// The zone of this process: that of `TZ` as glibc reads it, else of `/etc/localtime`.
    package static let ofProcess = LocalZone { seconds in
        var (time, parts) = (time_t(seconds), tm())
        guard localtime_r(&time, &parts) != nil else { return Difference(seconds: 0, name: "UTC") }
        return Difference(seconds: Int64(parts.tm_gmtoff), name: parts.tm_zone.map { String(cString: $0) } ?? "")
    }

    package static let utc = LocalZone { _ in Difference(seconds: 0, name: "UTC") }
}

// As text.
extension LocalZone {
    /// Whether the clock on the wall shows UTC at a moment.
    func isUTC(at seconds: Int64) -> Bool { difference(seconds).seconds == 0 }

    /// The zone's name at a moment: `UTC`, `EST`, or `UTC-03:00` where it has no abbreviation.
    func name(at seconds: Int64) -> String {
        let difference = difference(seconds)
        if difference.seconds == 0 { return "UTC" }
        let isNamed = difference.name.unicodeScalars.contains { ("A"..."Z").contains($0) || ("a"..."z").contains($0) }
        return isNamed ? difference.name : "UTC" + Self.offset(difference.seconds)
    }

    /// `2026-01-31 07:00:05 EST`.
    func text(_ seconds: Int64) -> String { "\(wall(seconds)) \(name(at: seconds))" }

    /// `2026-01-31 07:00:05`, without the zone.
    func wall(_ seconds: Int64) -> String {
        let text = UTCTimestamp.string(seconds: local(seconds))
        return text.replacing("T", with: " ").replacing("Z", with: "")
    }

    /// `07:00:05`.
    func timeOfDay(_ seconds: Int64) -> String { String(wall(seconds).suffix(8)) }

    /// `2026-01-31T07:00:05-05:00` (RFC 3339).
    func timestamp(_ seconds: Int64) -> String {
        let difference = difference(seconds).seconds
        let text = UTCTimestamp.string(seconds: seconds + difference)
        return difference == 0 ? text : text.replacing("Z", with: Self.offset(difference))
    }

    private static func offset(_ seconds: Int64) -> String {
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = abs(seconds) / 60
        return "\(seconds < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
    }
}

// From the wall to UTC. A local time is the number of seconds that UTC has when it shows the same.
extension LocalZone {
    /// The first moment at which the wall shows a local time or, where a change skips it, the moment of the change.
    func first(ofLocal local: Int64) -> Int64 { moments(ofLocal: local).first ?? change(skipping: local) }

    /// The last moment at which the wall shows a local time or, where a change skips it, the moment before the change.
    func last(ofLocal local: Int64) -> Int64 { moments(ofLocal: local).last ?? change(skipping: local) - 1 }

    /// The local time of a moment.
    func local(_ seconds: Int64) -> Int64 { seconds + difference(seconds).seconds }

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
