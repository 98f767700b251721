// SPDX-License-Identifier: Apache-2.0

import CPhoneNumber

/// Accepts most E.164 numbers without a call to libphonenumber.
///
/// libphonenumber takes about 10 µs per number, and nearly all callers arrive as plain E.164. For those, three
/// properties decide its result: the calling code, the number of digits, and the digit after the code. That digit shows
/// whether the library strips a national prefix, and whether the plan has such numbers. The table is built from the library at first use, within a few
/// milliseconds. The caller asks the library about every number that the table rejects.
struct CallingCodePlan: Sendable {
    /// One entry per combination of three leading digits.
    ///
    /// Zero means: ask the library.
    ///
    /// - Bits 0–15: bit n is set if a number may have n digits in total.
    /// - Bits 16–25: bit 16+d is set if digit d may follow the code and starts no prefix.
    /// - Bits 26–27: the number of digits of the code.
    private let entries: [UInt32]
    /// The digits that may begin a national number, by the three leading digits of the number; bit d for digit d.
    private let leading: [UInt16]
    /// The calling codes whose national numbers are dialled with a leading zero.
    private let codesWithZero: Set<Int>

    static let shared = CallingCodePlan()

    private init() {
        var entries = [UInt32](repeating: 0, count: 1000)
        var leading = [UInt16](repeating: UInt16(LeadingDigits.all), count: 1000)
        let plans = Self.plans()
        codesWithZero = Set(plans.filter { Self.dialsZero($0) }.map { Int($0.code) })
        for plan in plans {
            let codeLength = plan.code < 10 ? 1 : plan.code < 100 ? 2 : 3
            let lengths = UInt32(plan.possible_lengths) << UInt32(codeLength) & 0xFFFF
            let first = LeadingDigits.byCode[Int(plan.code)] ?? LeadingDigits.all
            let followers = Self.followers(plan) & first
            let entry = lengths | followers << 16 | UInt32(codeLength) << 26
            let width = [1: 100, 2: 10, 3: 1][codeLength, default: 1]
            let start = Int(plan.code) * width
            for position in start..<start + width { (entries[position], leading[position]) = (entry, UInt16(first)) }
        }
        self.entries = entries
        self.leading = leading
    }

    /// True if `+digits` is a possible number that the library returns unchanged.
    @inline(__always)
    func accepts(_ number: E164Number, digitCount: Int) -> Bool {
        // A number has at least seven digits: three for the code and at least one behind it.
        let leading = number.digits / Self.powers[digitCount - 4]
        let entry = entries[Int(leading / 10)]
        let codeLength = Int(entry >> 26)
        let follower = codeLength == 3 ? leading % 10 : codeLength == 2 ? leading / 10 % 10 : leading / 100 % 10
        return entry >> UInt32(digitCount) & 1 == 1 && entry >> (16 + UInt32(follower)) & 1 == 1
    }

    /// True if the digit behind the calling code begins numbers of the plan; true for an unknown code.
    func mayBegin(_ number: E164Number) -> Bool {
        var rest = number.digits
        while rest >= 10_000 { rest /= 10 }
        guard rest >= 1000 else { return true }
        let codeLength = entries[Int(rest / 10)] >> 26
        guard codeLength > 0 else { return true }
        let digit = codeLength == 3 ? rest % 10 : codeLength == 2 ? rest / 10 % 10 : rest / 100 % 10
        return leading[Int(rest / 10)] >> UInt16(digit) & 1 == 1
    }

    /// True if national numbers of that calling code are dialled with a leading zero.
    func dialsZero(code: Int) -> Bool { codesWithZero.contains(code) }

    private static func dialsZero(_ plan: herald_calling_code) -> Bool {
        plan.national_prefix.0 == CChar(bitPattern: UInt8(ascii: "0")) && plan.national_prefix.1 == 0
    }

    /// Digits that start another prefix that the library strips, such as carrier selection or old mobile prefixes.
    ///
    /// Found by comparing the library's results for every four leading digits, every possible length and every code.
    private static let otherPrefixes: [UInt16: [UInt32]] = [
        52: [1], 54: [1, 2, 3], 55: [9], 61: [1], 86: [1], 352: [1], 375: [0],
    ]

    private static let powers: [UInt64] = (0...15).map { count in (0..<count).reduce(1) { value, _ in value * 10 } }

    private static func plans() -> [herald_calling_code] {
        let count = Int(herald_phone_calling_codes(nil, 0))
        return [herald_calling_code](unsafeUninitializedCapacity: count) { buffer, length in
            length = min(count, Int(herald_phone_calling_codes(buffer.baseAddress, Int32(count))))
        }
    }

    /// Returns the digits that may follow the code because they do not start a prefix. Bit d is set for digit d.
    private static func followers(_ plan: herald_calling_code) -> UInt32 {
        let prefix = UInt8(bitPattern: plan.national_prefix.0)
        var allowed: UInt32 = 0x3FF
        if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(prefix) {
            allowed &= ~(1 << UInt32(prefix - UInt8(ascii: "0")))
        } else if prefix != 0 {
            allowed = 0
        }
        for digit in otherPrefixes[plan.code, default: []] { allowed &= ~(1 << digit) }
        return allowed
    }
}
