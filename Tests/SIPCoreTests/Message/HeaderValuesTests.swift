// SPDX-License-Identifier: Apache-2.0

import Primitives
import SIPCore
import SeededRandom
import Testing

@Suite("Lists and parameters in header fields, RFC 3261 §7.3.1 and §25.1")
struct HeaderValuesTests {
    @Test(arguments: [
        ("a", ["a"]), ("a,b", ["a", "b"]), (" a ,\t b\r\n ", ["a", "b"]), ("", []), (" , ,, ", []), (",a,", ["a"]),
        ("\"a,b\" <sip:c>, <sip:d>", ["\"a,b\" <sip:c>", "<sip:d>"]),
        ("\"a\\\",b\" <sip:c>,d", ["\"a\\\",b\" <sip:c>", "d"]),
        ("<data:a,b>;purpose=icon,<c>", ["<data:a,b>;purpose=icon", "<c>"]),
        ("<sip:a\",\"b>,c", ["<sip:a\",\"b>", "c"]), ("\"never closed, b", ["\"never closed, b"]),
        ("\"ends in a backslash\\", ["\"ends in a backslash\\"]), ("<never closed, b", ["<never closed, b"]),
        ("a;b=\"1,2\",c", ["a;b=\"1,2\"", "c"]), ("\"", ["\""]), ("<", ["<"]), ("\\", ["\\"]),
    ])
    func `commas part values outside quotes and brackets`(field: String, values: [String]) {
        let bytes = Array("##\(field)##".utf8)
        let found = HeaderValues(bytes, 2..<(bytes.count - 2)).map { text(bytes[$0]) }
        #expect(found == values)
    }

    @Test(arguments: [
        (";a=1;b=2", "b", "2"), (";A = 1 ; b", "a", "1"), (";a;b", "a", ""), (";a=", "a", ""), (";ab=1", "a", nil),
        (";a=\"x;b=no\";b=yes", "b", "yes"), ("x;a=1", "x", nil), (";a=1;a=2", "a", "1"), ("", "a", nil),
        (";", "a", nil),
        (";;;a=1", "a", "1"), (";=1", "a", nil), (";a=b=c", "a", "b=c"), (";a=\"never closed;b=1", "b", nil),
        (";a=\"\\", "a", "\"\\"), (";\r\n a\t=\r\n 1\r\n ", "a", "1"),
    ])
    func `a parameter is found by its name`(field: String, name: String, value: String?) {
        // Room behind the range shows that nothing is read past it.
        let bytes = Array("\(field);\(name)=outside".utf8)
        let found = HeaderParameters(bytes, 0..<field.utf8.count).first { text(bytes[$0.name]).lowercased() == name }
        #expect(found.map { text(bytes[$0.value]) } == value)
    }

    @Test func `a parameter is found without case by what a caller names`() {
        let bytes = Array(";CAUSE=16;text=\"Normal; cause=17\"".utf8)
        #expect(HeaderParameters.find("cause", in: bytes, bytes.indices).map { text(bytes[$0]) } == "16")
        #expect(HeaderParameters.find("caus", in: bytes, bytes.indices) == nil)
    }

    @Test func `what is looked for by name is what one by one finds, whatever the text`() {
        var random = RepeatableRandom(seed: 25)
        let parts: [String] = [
            ";", ";", "=", "\"", "\\", " ", "\t", "\r\n ", "tag", "TAG", "ta", "g", "x", "=1", ";tag", ";tag=",
        ]
        for _ in 0..<4_000 {
            let field = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                parts.randomElement(using: &random) ?? ""
            }
            let bytes = Array("##\(field.joined());tag=outside".utf8)
            let range = 2..<(bytes.count - ";tag=outside".utf8.count)
            let first = HeaderParameters(bytes, range).first { text(bytes[$0.name]).lowercased() == "tag" }
            #expect(HeaderParameters.find("tag", in: bytes, range) == first?.value, "\(field.joined())")
        }
    }

    @Test(arguments: [
        (";verstat=Passed", true), (";VerStat", true), ("vverstat", true), ("ververstat", true), ("verstat", true),
        ("versta", false), ("verst at", false), ("", false), ("v", false), ("erstat", false),
    ])
    func `a token anywhere is found, in either case`(field: String, isThere: Bool) {
        let bytes = Array("v\(field)erstat".utf8)
        #expect(bytes.mentions("verstat", in: 1..<(1 + field.utf8.count)) == isThere)
    }

    @Test func `sixty thousand separators are walked once`() {
        // One walk is some 60,000 steps; a walk per value would be 3.6 billion and outlast any patience.
        for separator in [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\""), UInt8(ascii: "<")] {
            let bytes = [UInt8](repeating: separator, count: 60_000)
            #expect(HeaderValues(bytes, bytes.indices).reduce(0) { count, _ in count + 1 } <= 1)
            #expect(HeaderParameters(bytes, bytes.indices).reduce(0) { count, _ in count + 1 } <= 60_000)
        }
        let list = Array(String(repeating: "a,", count: 30_000).utf8)
        #expect(HeaderValues(list, list.indices).reduce(0) { count, _ in count + 1 } == 30_000)
    }

    @Test(arguments: [
        ("0", 0), ("00070", 70), ("2147483647", 2_147_483_647), ("2147483648", nil), ("9999999999", nil),
        ("00000000001", nil), ("", nil), ("-1", nil), ("+1", nil), ("1 ", nil), ("\u{661}", nil), ("0x1", nil),
    ])
    func `a number is digits below 2 to the 31`(digits: String, number: Int?) {
        let bytes = Array(digits.utf8)
        #expect(DecimalNumber.read(bytes, bytes.indices) == number)
    }

    @Test func `numbers are written as they are read`() {
        var bytes: [UInt8] = []
        bytes.append(decimal: 0)
        bytes.append("|")
        bytes.append(decimal: UInt16.max)
        bytes.append("|")
        bytes.append(hex: 0x0123_4567_89ab_cdef)
        #expect(text(bytes) == "0|65535|0123456789abcdef")
    }

    @Test func `sixteen digits are written and read back, whatever the number`() {
        var random = RepeatableRandom(seed: 16)
        for _ in 0..<10_000 {
            let value = UInt64.random(in: .min ... .max, using: &random) >> UInt64.random(in: 0..<64, using: &random)
            var bytes: [UInt8] = []
            bytes.append(hex: value)
            let digits = String(value, radix: 16)
            #expect(text(bytes) == String(repeating: "0", count: 16 - digits.count) + digits)
            #expect(Hexadecimal.read(bytes[...]) == value)
            #expect(Hexadecimal.read(Array(text(bytes).uppercased().utf8)[...]) == value)
        }
    }

    @Test func `every other byte in the place of one of sixteen digits makes it none`() {
        for place in 0..<16 {
            for byte in UInt8.min...UInt8.max {
                var digits = Array("0123456789abcdef".utf8)
                digits[place] = byte
                let character = Character(Unicode.Scalar(byte))
                #expect((Hexadecimal.read(digits[...]) != nil) == (character.isASCII && character.isHexDigit))
            }
        }
    }

    @Test(arguments: [("BYE", true), ("bye", false), ("BY", false), ("BYEE", false), ("BYF", false), ("", false)])
    func `a literal has case`(text: String, isEqual: Bool) {
        #expect(Array(text.utf8)[...].equals("BYE") == isEqual)
    }

    @Test(arguments: [
        ("SIP/2.0", true), ("sip/2.0", true), ("sIp/2.0", true), ("SIP/2.1", false), ("SIP/2.", false),
        ("SIP/2.00", false), ("3IP/2.0", false), ("S\u{9}P/2.0", false), ("", false),
    ])
    func `a literal is compared without case`(text: String, isEqual: Bool) {
        #expect(Array(text.utf8)[...].equalsIgnoringCase("SIP/2.0") == isEqual)
    }

    @Test(arguments: [("Ab-1", "aB-1", true), ("a", "ab", false), ("", "", true), ("@", "`", false), ("[", "{", false)])
    func `only letters have case`(one: String, other: String, isEqual: Bool) {
        #expect(Array(one.utf8)[...].equalsIgnoringCase(Array(other.utf8)[...]) == isEqual)
    }
}
