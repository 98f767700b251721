// SPDX-License-Identifier: Apache-2.0

import Branding

/// A number, a prefix or a range of numbers, as a route or a list file writes it.
///
/// `+4930123456` is one number. `+4930*` is each number that begins so. `+49301200-+49301299` is each number between
/// two of the same length.
struct RouteEntry {
    /// The keys of the entry, at least one.
    let keys: Keys

    enum Keys {
        case one(CalledNumberTable.Key)
        case range(ClosedRange<UInt64>)
    }

    /// Largest number of numbers in a range.
    static let largestRange: UInt64 = 100_000
    private static let normaliser = NumberNormaliser(region: nil)

    /// - Parameter region: country of national numbers; nil accepts a plus sign only.
    /// - Throws: the reason and the remedy.
    init(_ text: Slice<UnsafeRawBufferPointer>, region: NumberNormaliser?) throws(AddressProblem) {
        if text.first == UInt8(ascii: "+"), text.last == UInt8(ascii: "*") {
            keys = .one(.prefix(try Self.prefix(text.dropFirst().dropLast())))
        } else if let dash = text.firstIndex(of: UInt8(ascii: "-")), dash > text.startIndex {
            keys = .range(try Self.range(text, dash, region))
        } else {
            keys = .one(.number(try Self.number(text, region)))
        }
    }

    private static func prefix(_ digits: Slice<UnsafeRawBufferPointer>) throws(AddressProblem) -> UInt64 {
        var value: UInt64 = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit <= 9, value > 0 || digit > 0 else { throw .unfit(wrongPrefix) }
            value = value &* 10 &+ UInt64(digit)
        }
        guard (1...15).contains(digits.count) else { throw .unfit(wrongPrefix) }
        return value
    }

    private static let wrongPrefix = "is no prefix; write a plus sign, 1 to 15 digits and *, such as +4930*"

    private static func number(
        _ text: Slice<UnsafeRawBufferPointer>, _ region: NumberNormaliser?
    ) throws(AddressProblem) -> E164Number {
        let isGlobal = text.first == UInt8(ascii: "+")
        guard isGlobal || region != nil else {
            throw .unfit("has no plus sign; write the number as +4930123456, or set region for the route")
        }
        guard let number = (isGlobal ? normaliser : region ?? normaliser).normalise(text) else {
            throw .unfit("is no telephone number; write it as +4930123456, and a prefix as +4930*")
        }
        return number
    }

    private static func range(
        _ text: Slice<UnsafeRawBufferPointer>, _ dash: Int, _ region: NumberNormaliser?
    ) throws(AddressProblem) -> ClosedRange<UInt64> {
        let first = try number(text[text.startIndex..<dash], region)
        let last = try number(text[(dash + 1)...], region)
        guard first.description.utf8.count == last.description.utf8.count, first <= last else {
            throw .unfit("is no range; write the lower number first, and both with the same number of digits")
        }
        guard last.digits - first.digits < largestRange else {
            throw .unfit("has more than \(largestRange) numbers; write prefixes such as +4930*")
        }
        return first.digits...last.digits
    }
}
