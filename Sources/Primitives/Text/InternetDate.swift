// SPDX-License-Identifier: Apache-2.0

/// Reads dates of header fields of SIP and HTTP, such as `Sat, 13 Nov 2010 23:29:00 GMT` (RFC 3261 §20.17, RFC 9110 §5.6.7).
public enum InternetDate {
    /// Unix seconds of a date; nil for another form. The day of the week is not compared.
    public static func seconds(_ text: ArraySlice<UInt8>) -> Int64? {
        let parts = text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ":") }
        guard parts.count == 8, parts[7].elementsEqual("GMT".utf8),
            let day = number(parts[1], 1...31), let year = number(parts[3], 1970...9999),
            let month = months.firstIndex(where: { $0.elementsEqual(parts[2]) }),
            let hour = number(parts[4], 0...23), let minute = number(parts[5], 0...59),
            let second = number(parts[6], 0...60)
        else { return nil }
        return days(year, Int64(month) + 1, day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static let months: [[UInt8]] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ].map { Array($0.utf8) }

    private static func number(_ digits: ArraySlice<UInt8>, _ range: ClosedRange<Int64>) -> Int64? {
        guard (1...4).contains(digits.count) else { return nil }
        var value: Int64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - 0x30)
        }
        return range.contains(value) ? value : nil
    }

    /// Days from 1970 to a date of the Gregorian calendar, whose years begin in March here.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
