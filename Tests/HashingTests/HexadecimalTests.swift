// SPDX-License-Identifier: Apache-2.0

import Hashing
import Testing

@Suite("Hexadecimal digits")
struct HexadecimalTests {
    // RFC 4648 §10 in lower case.
    @Test(arguments: [("", ""), ("f", "66"), ("fo", "666f"), ("foob", "666f6f62"), ("foobar", "666f6f626172")])
    func `the vectors of RFC 4648 hold in both directions`(bytes: String, digits: String) {
        #expect(Hexadecimal.text(bytes.utf8) == digits)
        #expect(Hexadecimal.bytes(digits) == Array(bytes.utf8))
        #expect(Hexadecimal.bytes(digits.uppercased()) == Array(bytes.utf8))
    }

    @Test func `every byte has two digits and is read back`() {
        for byte in UInt8.min...UInt8.max {
            let digits = Hexadecimal.text([byte])
            #expect(digits.utf8.count == 2)
            #expect(Hexadecimal.bytes(digits) == [byte])
        }
    }

    // A sign is what the standard library's integers accept in front of digits.
    @Test(arguments: ["0", "+f", "-1", "0x", "0g", " 0", "٠٠", "00 ", "000"])
    func `other text is no bytes`(text: String) {
        #expect(Hexadecimal.bytes(text) == nil)
    }

    @Test(arguments: ["+123456789abcdef", "-000000000000001", "123456789abcdef", "0123456789abcdef0"])
    func `sixteen digits are an integer, and nothing else is`(text: String) {
        #expect(Hexadecimal.read(Array(text.utf8)[...]) == nil)
        #expect(Hexadecimal.read(Array("0123456789ABCDEF".utf8)[...]) == 0x0123_4567_89ab_cdef)
    }
}
