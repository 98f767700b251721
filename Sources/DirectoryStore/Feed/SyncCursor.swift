// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// A place in the feed of changes, written as the contract's ISO 8601 cursor.
///
/// The seconds are the server's time. The nine digits of the fraction are the end of the number of the last change seen,
/// as many as common readers of times take; the account's present number says what stands before them. Clients send it
/// back to the letter. A time of another shape is taken as "changed at or after it", by the entries' own times.
package struct SyncCursor: Hashable, Sendable {
    /// Seconds since 1970.
    package let seconds: Int64
    /// The last digits of the last change seen; nil for a time this server did not write.
    private let ending: Int64?
    /// What the digits are the remainder of.
    private let modulus: Int64

    private static let digits = 9
    private static let modulus: Int64 = 1_000_000_000
    /// Cursors of an earlier form have the whole number.
    private static let wholeDigits = 12

    init(seconds: Int64, change: Int64) {
        self.seconds = seconds
        modulus = Self.modulus
        ending = change % Self.modulus
    }

    /// Reads what a client sent; nil when it is no ISO 8601 time.
    package init?(_ text: String) {
        guard let seconds = Timestamp.seconds(from: text) else { return nil }
        self.seconds = seconds
        let fraction = text.split(separator: ".").dropFirst().first?.prefix { $0.isASCII && $0.isNumber } ?? ""
        let isOurs = fraction.count == Self.digits || fraction.count == Self.wholeDigits
        ending = isOurs && text.hasSuffix("Z") ? Int64(fraction) : nil
        modulus = fraction.count == Self.wholeDigits ? .max : Self.modulus
    }

    /// The last change seen, the newest with this ending up to the account's last change.
    ///
    /// For a client that is more than 1,000,000,000 changes behind it is too new. The feed then sees a change that is
    /// younger than the cursor's time, and goes by the time.
    ///
    /// - Returns: nil for a time this server did not write, and for an ending that no change had yet.
    func change(upTo last: Int64) -> Int64? {
        guard let ending, ending <= last else { return nil }
        return last - (last - ending) % modulus
    }

    /// What a client is given.
    package var text: String {
        let number = String(ending ?? 0)
        let fraction = String(repeating: "0", count: max(Self.digits - number.count, 0)) + number
        return Timestamp.string(from: seconds).dropLast() + "." + fraction + "Z"
    }
}
