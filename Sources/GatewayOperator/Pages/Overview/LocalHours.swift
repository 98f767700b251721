// SPDX-License-Identifier: Apache-2.0

import Primitives

// Hours and days of the local time, for axes and tables; moments are seconds since 1970.
extension LocalZone {
    /// `2026-01-31 12:00`.
    func minute(_ seconds: Int64) -> String { String(wall(seconds).prefix(16)) }

    /// `12:00`.
    func hourText(_ seconds: Int64) -> String { String(timeOfDay(seconds).prefix(5)) }

    /// `Sat 31`.
    func dayText(_ seconds: Int64) -> String {
        let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        return "\(names[Int((day(seconds) % 7 + 7) % 7)]) \(wall(seconds).dropFirst(8).prefix(2))"
    }

    /// The local day, in days since 1970.
    func day(_ seconds: Int64) -> Int64 { Self.floor(local(seconds), 86_400) }

    /// The hour of the local day.
    func hour(_ seconds: Int64) -> Int64 { Self.floor(local(seconds), 3600) - day(seconds) * 24 }

    /// A moment in local time with its zone, and in UTC where that differs.
    func both(_ seconds: Int64) -> String {
        let local = "\(minute(seconds)) \(name(at: seconds))"
        return isUTC(at: seconds) ? local : "\(local) (\(LocalZone.utc.hourText(seconds)) UTC)"
    }

    private static func floor(_ value: Int64, _ unit: Int64) -> Int64 {
        value / unit - (value % unit < 0 ? 1 : 0)
    }
}
