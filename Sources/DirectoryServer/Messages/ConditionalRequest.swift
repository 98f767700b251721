// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird

/// Evaluates conditional headers (RFC 9110 §13).
enum ConditionalRequest {
    /// True if the client's copy is current, which gives 304.
    ///
    /// `If-None-Match` takes precedence (§13.2.2). A state is not newer than a time at or after its own (§13.1.3).
    /// States have different times. A time in the future is from a wrong clock and proves nothing.
    ///
    /// - Parameters:
    ///   - modified: seconds since 1970; nil if the time is not usable.
    ///   - now: seconds since 1970.
    static func holds(_ tag: String, modified: Int64? = nil, now: Int64 = .max, _ request: Request) -> Bool {
        if let list = request.headers[.ifNoneMatch] { return lists(list, tag) }
        guard let modified, let text = request.headers[.ifModifiedSince], let known = HTTPDate.seconds(from: text)
        else { return false }
        return modified <= known && known <= now
    }

    /// True if a list of entity tags contains this one, weak or strong, or is `*` (§13.1.2).
    private static func lists(_ list: String, _ tag: String) -> Bool {
        list.split(separator: ",").contains { entry in
            let entry = entry.trimmingCharacters(in: .whitespaces)
            return opaque(entry) == opaque(tag) || entry == "*"
        }
    }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}

/// Times in the format of HTTP headers, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Writes seconds since 1970.
    static func text(_ seconds: Int64) -> String {
        var (time, parts) = (time_t(seconds), tm())
        gmtime_r(&time, &parts)
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(padded).joined(separator: ":")
        return "\(days[Int(parts.tm_wday)]), \(padded(parts.tm_mday)) \(months[Int(parts.tm_mon)]) "
            + "\(parts.tm_year + 1900) \(clock) GMT"
    }

    /// Reads the current format; nil for any other, which only ignores the condition.
    static func seconds(from text: String) -> Int64? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int32(words[1]), (1...31).contains(day),
            let month = months.firstIndex(of: String(words[2])), let year = Int32(words[3]),
            (1970...9999).contains(year)
        else { return nil }
        let clock = words[4].split(separator: ":").compactMap { Int32($0) }
        guard clock.count == 3, (0..<24).contains(clock[0]), (0..<60).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, Int32(month), day)
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (clock[0], clock[1], clock[2])
        return Int64(timegm(&parts))
    }

    private static func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
