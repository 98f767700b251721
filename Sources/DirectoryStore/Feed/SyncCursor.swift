// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// A position in the feed of changes, written as the contract's ISO 8601 cursor.
///
/// The seconds are the server's time. The fraction has nine digits, because common time parsers read no more: the last
/// digit of the feed's epoch, and the last eight of the client's last change number. The account's present change
/// number gives the leading digits. Clients return the cursor unchanged. Any other time means "changed
/// at or after it", by the entries' own times. A cursor of another epoch gets the whole set.
package struct SyncCursor: Hashable, Sendable {
    /// Seconds since 1970.
    package let seconds: Int64
    /// The last digits of the client's last change number; nil for a time from elsewhere.
    let ending: Int64?
    /// The modulus of the digits.
    let modulus: Int64
    /// The last digit of the epoch; nil for a whole change number, which has none.
    private let epoch: Int64?

    private static let digits = 9
    private static let modulus: Int64 = 100_000_000
    /// Twelve digits are a whole change number.
    private static let wholeDigits = 12

    init(seconds: Int64, change: Int64, epoch: Int64 = 0) {
        self.seconds = seconds
        modulus = Self.modulus
        ending = change % Self.modulus
        self.epoch = epoch % 10
    }

    /// Reads a client's text; nil unless it is an ISO 8601 time.
    package init?(_ text: String) {
        guard let seconds = Timestamp.seconds(from: text) else { return nil }
        self.seconds = seconds
        let fraction = text.split(separator: ".").dropFirst().first?.prefix { $0.isASCII && $0.isNumber } ?? ""
        let isWhole = fraction.count == Self.wholeDigits && text.hasSuffix("Z")
        let number = isWhole || fraction.count == Self.digits && text.hasSuffix("Z") ? Int64(fraction) : nil
        let modulus = isWhole ? Int64.max : Self.modulus
        self.modulus = modulus
        epoch = isWhole ? nil : number.map { $0 / Self.modulus }
        ending = number.map { $0 % modulus }
    }

    /// The client's last change number: the highest with these last digits, up to the account's present one.
    ///
    /// For a client more than 100,000,000 changes behind, the result is too high. The feed then finds a change newer
    /// than the cursor's time and uses the time instead.
    ///
    /// - Returns: nil for a time from elsewhere, for another epoch, and for digits above the account's present change
    ///   number.
    func change(in head: ChangeCounter.Head) -> Int64? {
        guard let ending, ending <= head.last, epoch == nil || epoch == head.epoch % 10 else { return nil }
        return head.last - (head.last - ending) % modulus
    }

    /// True for a cursor of this directory from before its change numbers began anew.
    ///
    /// Before the first renewal there is none, and another epoch is a time from elsewhere.
    func isOfOtherEpoch(than head: ChangeCounter.Head) -> Bool {
        head.epoch > 0 && epoch.map { $0 != head.epoch % 10 } ?? false
    }

    /// True if the client has seen changes that this state of the database may lack, as on a standby that lags.
    func isAhead(of head: ChangeCounter.Head) -> Bool {
        guard ending != nil else { return false }
        guard let change = change(in: head) else { return true }
        // The last digits of a newer change read as an old one.
        return head.last - change > modulus / 2
    }

    /// The text for the client.
    package var text: String {
        let number = String((epoch ?? 0) * Self.modulus + (ending ?? 0))
        let fraction = String(repeating: "0", count: max(Self.digits - number.count, 0)) + number
        return Timestamp.string(from: seconds).dropLast() + "." + fraction + "Z"
    }
}
