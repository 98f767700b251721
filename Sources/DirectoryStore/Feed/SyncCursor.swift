// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// A position in the feed of changes, written as the contract's ISO 8601 cursor.
///
/// The seconds are the server's time. The nine digits of the fraction are the last digits of the client's last change
/// number; common time parsers read no more. The account's present change number gives the leading digits. Clients
/// return the cursor unchanged. Any other time means "changed at or after it", by the entries' own times.
package struct SyncCursor: Hashable, Sendable {
    /// Seconds since 1970.
    package let seconds: Int64
    /// The last digits of the client's last change number; nil for a time from elsewhere.
    private let ending: Int64?
    /// The modulus of the digits.
    private let modulus: Int64

    private static let digits = 9
    private static let modulus: Int64 = 1_000_000_000
    /// Twelve digits are a whole change number.
    private static let wholeDigits = 12

    init(seconds: Int64, change: Int64) {
        self.seconds = seconds
        modulus = Self.modulus
        ending = change % Self.modulus
    }

    /// Reads a client's text; nil unless it is an ISO 8601 time.
    package init?(_ text: String) {
        guard let seconds = Timestamp.seconds(from: text) else { return nil }
        self.seconds = seconds
        let fraction = text.split(separator: ".").dropFirst().first?.prefix { $0.isASCII && $0.isNumber } ?? ""
        let isOurs = fraction.count == Self.digits || fraction.count == Self.wholeDigits
        ending = isOurs && text.hasSuffix("Z") ? Int64(fraction) : nil
        modulus = fraction.count == Self.wholeDigits ? .max : Self.modulus
    }

    /// The client's last change number: the highest with these last digits, up to the account's present one.
    ///
    /// For a client more than 1,000,000,000 changes behind, the result is too high. The feed then finds a change newer
    /// than the cursor's time and uses the time instead.
    ///
    /// - Returns: nil for a time from elsewhere, and for digits above the account's present change number.
    func change(upTo last: Int64) -> Int64? {
        guard let ending, ending <= last else { return nil }
        return last - (last - ending) % modulus
    }

    /// The text for the client.
    package var text: String {
        let number = String(ending ?? 0)
        let fraction = String(repeating: "0", count: max(Self.digits - number.count, 0)) + number
        return Timestamp.string(from: seconds).dropLast() + "." + fraction + "Z"
    }
}
