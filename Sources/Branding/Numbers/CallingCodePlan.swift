// SPDX-License-Identifier: Apache-2.0

import CPhoneNumber

/// Which `+digits` texts libphonenumber would take unchanged, as one small table.
///
/// The library needs ten microseconds to read a number; nearly all callers arrive as plain E.164, for which its answer
/// is decided by the calling code, the count of digits, and whether the digits after the code look like a national
/// prefix that has to go. The table is filled from the library itself when first used, a few milliseconds. Whatever it
/// cannot vouch for is left to the library.
struct CallingCodePlan: Sendable {
    /// One entry for each combination of three leading digits; zero when the library must be asked.
    ///
    /// Bits 0–15: bit n is set if n digits in all are possible. Bits 16–25: bit 16+d is set if d may follow the code.
    /// Bits 26–27: count of digits of the code.
    private let entries: [UInt32]
    /// The codes behind which national numbers are dialled with a zero in front.
    private let codesWithZero: Set<Int>

    static let shared = CallingCodePlan()

    private init() {
        var entries = [UInt32](repeating: 0, count: 1000)
        let plans = Self.plans()
        codesWithZero = Set(plans.filter { Self.dialsZero($0) }.map { Int($0.code) })
        for plan in plans {
            let codeLength = plan.code < 10 ? 1 : plan.code < 100 ? 2 : 3
            let lengths = UInt32(plan.possible_lengths) << UInt32(codeLength) & 0xFFFF
            let followers = Self.followers(plan)
            let entry = lengths | followers << 16 | UInt32(codeLength) << 26
            let width = [1: 100, 2: 10, 3: 1][codeLength, default: 1]
            let start = Int(plan.code) * width
            for position in start..<start + width { entries[position] = entry }
        }
        self.entries = entries
    }

    /// True if the number, written with its plus sign, is possible and would be returned as it is.
    @inline(__always)
    func accepts(_ number: E164Number, digitCount: Int) -> Bool {
        // Seven digits at least, so there are three to look at and one behind the code.
        let leading = number.digits / Self.powers[digitCount - 4]
        let entry = entries[Int(leading / 10)]
        let codeLength = Int(entry >> 26)
        let follower = codeLength == 3 ? leading % 10 : codeLength == 2 ? leading / 10 % 10 : leading / 100 % 10
        return entry >> UInt32(digitCount) & 1 == 1 && entry >> (16 + UInt32(follower)) & 1 == 1
    }

    /// True if national numbers behind that calling code are dialled with a zero in front.
    func dialsZero(code: Int) -> Bool { codesWithZero.contains(code) }

    private static func dialsZero(_ plan: herald_calling_code) -> Bool {
        plan.national_prefix.0 == CChar(bitPattern: UInt8(ascii: "0")) && plan.national_prefix.1 == 0
    }

    /// Digits that begin something else the library would take away: carrier selection, old mobile prefixes, "183".
    ///
    /// Measured by asking the library about every four leading digits of every possible length of every code.
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

    /// The digits that may follow the code without looking like the national prefix: bit d for digit d.
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
