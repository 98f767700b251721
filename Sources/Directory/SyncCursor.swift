// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// A place in the feed of changes, written as the contract's ISO 8601 cursor.
///
/// The seconds are the server's time; the twelve digits of the fraction are the number of the last change seen. Clients
/// send it back to the letter. A time of another shape is taken as "changed at or after it", by the entries' own times.
struct SyncCursor: Hashable, Sendable {
    /// Seconds since 1970.
    let seconds: Int64
    /// The last change seen; nil for a time this server did not write.
    let change: Int64?

    private static let digits = 12

    init(seconds: Int64, change: Int64) {
        self.seconds = seconds
        self.change = change
    }

    /// Reads what a client sent; nil when it is no ISO 8601 time.
    init?(_ text: String) {
        guard let seconds = Timestamp.seconds(from: text) else { return nil }
        self.seconds = seconds
        let fraction = text.split(separator: ".").dropFirst().first?.prefix { $0.isASCII && $0.isNumber } ?? ""
        change = fraction.count == Self.digits && text.hasSuffix("Z") ? Int64(fraction) : nil
    }

    /// What a client is given; `change` must be set.
    var text: String {
        let number = String(change ?? 0)
        let fraction = String(repeating: "0", count: max(Self.digits - number.count, 0)) + number
        return Timestamp.string(from: seconds).dropLast() + "." + fraction + "Z"
    }
}
