// SPDX-License-Identifier: Apache-2.0

/// Writes times in the form of the contract: ISO 8601, UTC, whole seconds, `Z`.
public enum UTCTimestamp {
    /// 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z: four digits hold these years.
    private static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// The time as `2026-01-31T23:59:59Z`.
    ///
    /// - Parameter seconds: since 1970, years 1 to 9999; others are written as the nearest of these.
    public static func string(seconds: Int64) -> String {
        bytes(seconds: seconds).span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    /// The characters of `string`.
    ///
    /// Foundation's formatter takes microseconds of work, and every event and entry has a time.
    public static func bytes(seconds: Int64) -> InlineArray<20, UInt8> {
        let seconds = min(max(seconds, range.lowerBound), range.upperBound)
        let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let (year, month, day) = date(days: days)
        let time = seconds - days * 86_400
        var text = InlineArray<20, UInt8>(repeating: 0)
        func put(_ value: Int64, digits: Int, at offset: Int, then separator: Unicode.Scalar) {
            var rest = value
            for position in stride(from: offset + digits - 1, through: offset, by: -1) {
                text[position] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            text[offset + digits] = UInt8(ascii: separator)
        }
        put(year, digits: 4, at: 0, then: "-")
        put(month, digits: 2, at: 5, then: "-")
        put(day, digits: 2, at: 8, then: "T")
        put(time / 3600, digits: 2, at: 11, then: ":")
        put(time / 60 % 60, digits: 2, at: 14, then: ":")
        put(time % 60, digits: 2, at: 17, then: "Z")
        return text
    }

    /// Civil date of a day counted from 1970-01-01, in years that begin in March so that leap days come last.
    private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468  // days from 0000-03-01 to 1970-01-01
        let era = shifted / 146_097  // 400 years
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
