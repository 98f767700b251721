// SPDX-License-Identifier: Apache-2.0

import CPhoneNumber
import Synchronization

/// The emergency numbers of a region: those of its numbering plan, 112, 911, and the operator's own.
///
/// Built with the configuration. A lookup allocates nothing. Thread-safe. Sources: libphonenumber's short numbers; 3GPP
/// TS 22.101 §10.1 for 112 and 911, which every mobile network accepts.
public struct EmergencyNumbers: Hashable, Sendable {
    /// Each number as a decimal integer with a leading 1, which preserves leading zeros: 000 is 1000.
    private var numbers: Set<UInt64>
    /// Calling codes with a leading 1, for numbers in international form (`+61000`).
    private var codes: Set<UInt64>
    /// The largest number of digits of a number with its calling code.
    private let longest: Int

    /// The largest number of digits in an operator's own number.
    public static let maxDigits = 12

    /// Combines the region's numbers with the operator's own. Skips own numbers that `isDialled` rejects.
    public init(region: Region?, own: [String] = []) {
        let listed = own.filter(Self.isDialled).compactMap { UInt64("1" + $0) }
        self.init(
            Set((region.map(Self.known) ?? []) + Self.everywhere + listed),
            codes: region.flatMap { UInt64("1\($0.callingCode)") }.map { [$0] } ?? [])
    }

    /// Combines several sets.
    public init(of all: some Sequence<EmergencyNumbers>) {
        var (numbers, codes) = (Set(Self.everywhere), Set<UInt64>())
        for one in all {
            numbers.formUnion(one.numbers)
            codes.formUnion(one.codes)
        }
        self.init(numbers, codes: codes)
    }

    private init(_ numbers: Set<UInt64>, codes: Set<UInt64>) {
        (self.numbers, self.codes) = (numbers, codes)
        longest = (numbers.max().map(Self.digitCount) ?? 0) + 3
    }

    /// True for 2 to `maxDigits` ASCII digits, the form of an operator's own number.
    public static func isDialled(_ text: String) -> Bool {
        (2...maxDigits).contains(text.utf8.count) && text.utf8.allSatisfy { (48...57).contains($0) }
    }

    /// The numbers as dialled, sorted as text.
    public var dialled: [String] { numbers.map { String("\($0)".dropFirst()) }.sorted() }

    /// True if the user part of a URI is an emergency number.
    ///
    /// Accepts digits, an optional plus sign, the separators of RFC 3966 §5.1.1 and the escapes of RFC 3261 §19.1.2.
    /// After a plus sign the region's calling code may precede the number.
    public func contains(_ bytes: Span<UInt8>, _ user: Range<Int>) -> Bool {
        var (value, digits, isGlobal) = (UInt64(1), 0, false)
        var position = user.lowerBound
        while position < user.upperBound {
            var byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "%") {
                guard position + 2 <= user.upperBound, let high = Self.hexadecimal(bytes[position]),
                    let low = Self.hexadecimal(bytes[position + 1])
                else { return false }
                byte = high << 4 | low
                position += 2
            }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                guard digits < longest else { return false }
                value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
                digits += 1
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: " "): continue
            case UInt8(ascii: "+") where digits == 0 && !isGlobal: isGlobal = true
            default: return false
            }
        }
        if numbers.contains(value) { return true }
        return isGlobal && (1...3).contains { hasCode($0, value, digits) }
    }

    /// True if the value consists of a calling code of `length` digits and an emergency number.
    private func hasCode(_ length: Int, _ value: UInt64, _ digits: Int) -> Bool {
        guard digits > length else { return false }
        let power = (0..<(digits - length)).reduce(UInt64(1)) { power, _ in power * 10 }
        return codes.contains(value / power) && numbers.contains(value % power + power)
    }

    /// Returns the number of digits after the leading 1.
    private static func digitCount(_ value: UInt64) -> Int {
        var (count, rest) = (0, value)
        while rest >= 10 { (count, rest) = (count + 1, rest / 10) }
        return count
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): (byte | 0x20) - 87
        default: nil
        }
    }

    // MARK: The library's

    private static let everywhere: [UInt64] = [1112, 1911]

    /// Cached results of libphonenumber; one query takes about 30 ms.
    private static let asked = Mutex<[Region: [UInt64]]>([:])

    private static func known(in region: Region) -> [UInt64] {
        if let known = asked.withLock({ $0[region] }) { return known }
        // The longest list has 102 numbers (region GA).
        let numbers = [UInt32](unsafeUninitializedCapacity: 512) { buffer, length in
            let count = region.withLetters { herald_phone_emergency_numbers($0, buffer.baseAddress, 512) }
            length = Int(min(count, 512))
        }
        let known = numbers.map { UInt64($0) }
        asked.withLock { $0[region] = known }
        return known
    }
}
