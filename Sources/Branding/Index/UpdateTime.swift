// SPDX-License-Identifier: Apache-2.0

/// An instant parsed from `updated_at`, for comparing two records of one number.
///
/// Parses ISO 8601: date and time, an optional fraction, and `Z`, an offset, or neither (UTC). Unreadable text is older
/// than every instant.
public struct UpdateTime: Hashable, Sendable, Comparable {
    /// Microseconds since 1970 in UTC; `Int64.min` for unreadable text.
    public let microseconds: Int64

    public init(_ text: String) {
        var scanner = Scanner(rest: text.utf8[...])
        microseconds = scanner.instant() ?? .min
    }

    private init(microseconds: Int64) { self.microseconds = microseconds }

    /// Older than everything else.
    static let never = UpdateTime(microseconds: .min)

    public static func < (left: UpdateTime, right: UpdateTime) -> Bool { left.microseconds < right.microseconds }
}

/// Parses a timestamp from left to right.
private struct Scanner {
    var rest: Substring.UTF8View

    mutating func instant() -> Int64? {
        guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2),
            take("T") || take("t") || take(" "), let hour = number(2), take(":"), let minute = number(2), take(":"),
            let second = number(2), (1...12).contains(month), day > 0, day <= Self.length(ofMonth: month, in: year),
            hour < 24, minute < 60, second < 61
        else { return nil }
        let fraction = take(".") || take(",") ? fraction() : 0
        guard let fraction, let offset = offset(), rest.isEmpty else { return nil }
        let minutes = (Self.days(year, month, day) * 24 + hour) * 60 + minute - offset
        return (minutes * 60 + second) * 1_000_000 + fraction
    }

    private mutating func take(_ letter: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: letter) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func digit() -> Int64? {
        guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        rest.removeFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }

    private mutating func number(_ count: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// Returns microseconds. Drops digits after the sixth.
    private mutating func fraction() -> Int64? {
        guard var value = digit() else { return nil }
        var count = 1
        while let digit = digit() {
            if count < 6 { value = value * 10 + digit }
            count += 1
        }
        for _ in min(count, 6)..<6 { value *= 10 }
        return value
    }

    /// Returns minutes east of UTC.
    private mutating func offset() -> Int64? {
        if rest.isEmpty || take("Z") || take("z") { return 0 }
        let isWest = rest.first == UInt8(ascii: "-")
        guard take("+") || take("-"), let hours = number(2), hours < 24 else { return nil }
        _ = take(":")
        guard let minutes = rest.isEmpty ? 0 : number(2), minutes < 60 else { return nil }
        return (hours * 60 + minutes) * (isWest ? -1 : 1)
    }

    private static func length(ofMonth month: Int64, in year: Int64) -> Int64 {
        let next = month == 12 ? days(year + 1, 1, 1) : days(year, month + 1, 1)
        return next - days(year, month, 1)
    }

    /// Returns the days since 1970-01-01 in the Gregorian calendar.
    ///
    /// The computation starts each year in March, so that the leap day comes last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month < 3 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
