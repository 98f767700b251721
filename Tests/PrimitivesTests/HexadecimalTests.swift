// SPDX-License-Identifier: Apache-2.0

import Primitives
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

    @Test(arguments: 1...16)
    func `digits are taken at a position of a text, and other characters are not`(count: Int) {
        let digits = Array("fedcba98765432F0".utf8.prefix(count))
        let value = digits.reduce(UInt64(0)) { $0 << 4 | UInt64(Hexadecimal.digit($1) ?? 0) }
        var position = 1
        func taken(_ text: [UInt8]) -> UInt64? { Hexadecimal.take(count, of: text.span, at: &position) }
        #expect(taken([UInt8(ascii: "z")] + digits) == value && position == count + 1)
        position = 0
        #expect(taken(digits.dropLast()) == nil && position == 0)
        for place in digits.indices {
            for byte in "g/:@`G\u{0} ".utf8 {
                var other = digits
                other[place] = byte
                #expect(taken(other) == nil && position == 0)
            }
        }
    }

    @Test(arguments: ["+123456789abcdef", "-000000000000001", "123456789abcdef", "0123456789abcdef0"])
    func `sixteen digits are an integer, and nothing else is`(text: String) {
        #expect(Hexadecimal.read(Array(text.utf8)[...]) == nil)
        #expect(Hexadecimal.read(Array("0123456789ABCDEF".utf8)[...]) == 0x0123_4567_89ab_cdef)
    }
}
