// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("E.164 numbers, ITU-T E.164 §6.2.1")
struct E164NumberTests {
    @Test(
        arguments: [
            (digits: 1_000_000, text: "+1000000"),
            (digits: 9_999_999, text: "+9999999"),
            (digits: 10_000_000, text: "+10000000"),
            (digits: 12_025_550_142, text: "+12025550142"),
            (digits: 99_999_999_999_999, text: "+99999999999999"),
            (digits: 100_000_000_000_000, text: "+100000000000000"),
            (digits: 999_999_999_999_999, text: "+999999999999999"),
        ] as [(digits: UInt64, text: String)])
    func `a number is written with plus sign and digits and parsed back`(digits: UInt64, text: String) throws {
        let number = try #require(E164Number(digits: digits))
        #expect(number.description == text)
        #expect(E164Number(text) == number)
    }

    @Test(arguments: [0, 999_999, 1_000_000_000_000_000, .max] as [UInt64])
    func `numbers with too few or too many digits are rejected`(digits: UInt64) {
        #expect(E164Number(digits: digits) == nil)
    }
}
