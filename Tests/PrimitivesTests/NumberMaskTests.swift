// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@Suite("Mask of telephone numbers")
struct NumberMaskTests {
    @Test(arguments: [
        ("+61491570156", "+61******156"), ("112", "112"), ("order 123456", "order 123456"),
        ("call 0491 570 156 now", "call 04** *** 156 now"), ("0221/1234567", "02**/****567"),
        ("(02) 5550 1001", "(02) **** *001"), ("at 192.0.2.10 there", "at 192.0.2.10 there"),
        ("+61491570156, +61255501001", "+61******156, +61******001"), ("Zoë 0491570156", "Zoë 04*****156"), ("", ""),
    ])
    func `numbers of seven digits and more keep two digits and three`(text: String, masked: String) {
        #expect(NumberMask.masked(text) == masked)
    }

    @Test(arguments: [
        ("+61491570156", true), ("(202) 555-1000", true), ("CN=12025551000, O=Shop", true), ("0221/1234567", true),
        ("WIRELESS CALLER", false), ("SHAKEN 123A", false), ("Taxi 24/7", false), ("at 192.0.2.10", false),
        ("123456", false), ("+61******156", false), ("", false),
    ]) func `a text holds a number if the mask hides one`(text: String, holds: Bool) {
        #expect(NumberMask.holdsNumber(text) == holds)
    }

    @Test func `without ends every digit of a number is hidden`() {
        #expect(NumberMask.masked(Array("+61491570156".utf8)[...], keepsEnds: false) == Array("+***********".utf8))
    }

    @Test(arguments: [
        ("+61491570156", "+61******156"), ("0491570156", "04*****156"), ("1001", "1001"), ("192.0.2.20", "192.0.2.20"),
        ("203.0.113.255:5060", "203.0.113.255:5060"), ("tel:+1.201.555.0123", "tel:+1.2**.***.*123"),
        ("(02) 5550-1001", "(02) ****-*001"), ("0491 570 156", "04** *** 156"), ("12345678", "12***678"), ("", ""),
    ])
    func `a number keeps its first two and last three digits, an address all`(text: String, masked: String) {
        #expect(String(decoding: NumberMask.masked(Array(text.utf8)[...]), as: UTF8.self) == masked)
    }
}
