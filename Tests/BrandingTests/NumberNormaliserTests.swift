// SPDX-License-Identifier: Apache-2.0

import CPhoneNumber
import Testing

@testable import Branding

@Suite("Normalising numbers to E.164, RFC 3966 §3 and §5")
struct NumberNormaliserTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        let region: String?
        let expected: String?

        init(_ text: String, _ region: String?, _ expected: String?) {
            self.text = text
            self.region = region
            self.expected = expected
        }

        var testDescription: String { "\(text) in \(region ?? "no region")" }
    }

    static func normalise(_ row: Row) throws -> String? {
        let region = try row.region.map { try #require(Region($0)) }
        return NumberNormaliser(region: region).normalise(Array(row.text.utf8))?.description
    }

    @Test(arguments: [
        Row("0412345678", "AU", "+61412345678"),
        Row("0299991234", "AU", "+61299991234"),
        Row("02079460958", "GB", "+442079460958"),
        Row("07911123456", "GB", "+447911123456"),
        Row("030123456", "DE", "+4930123456"),
        Row("015112345678", "DE", "+4915112345678"),
        Row("2125551234", "US", "+12125551234"),
        Row("12125551234", "US", "+12125551234"),
        Row("094881234", "NZ", "+6494881234"),
        Row("0612345678", "FR", "+33612345678"),
        Row("0669811234", "IT", "+390669811234"),
        Row("131126", "AU", "+61131126"),
    ])
    func `a national number is read by the rules of the trunk's region`(row: Row) throws {
        #expect(try Self.normalise(row) == row.expected)
    }

    @Test(arguments: [
        Row("00442079460018", "DE", "+442079460018"),
        Row("00442079460018", "NZ", "+442079460018"),
        Row("00442079460018", "FR", "+442079460018"),
        Row("0061412345678", "GB", "+61412345678"),
        Row("011442079460018", "US", "+442079460018"),
        Row("0011442079460018", "AU", "+442079460018"),
        Row("0011 44 20 7946 0018", "AU", "+442079460018"),
        Row("61412345678", "AU", "+61412345678"),
        Row("447911123456", "GB", "+447911123456"),
        Row("+442079460018", "AU", "+442079460018"),
        Row("+442079460018", nil, "+442079460018"),
    ])
    func `an international number is read with the region's prefix, a bare calling code or a plus sign`(row: Row) throws
    {
        #expect(try Self.normalise(row) == row.expected)
    }

    @Test(arguments: [
        Row("+44-20-7946-0018", nil, "+442079460018"),
        Row("+44.20.7946.0018", nil, "+442079460018"),
        Row("+44 (20) 7946 0018", nil, "+442079460018"),
        Row("+44 (0)20 7946 0018", nil, "+442079460018"),
        Row(" +442079460018 ", nil, "+442079460018"),
        Row("(+44)2079460018", nil, "+442079460018"),
        Row("(020) 7946-0018", "GB", "+442079460018"),
        Row("+4402079460018", nil, "+442079460018"),
    ])
    func `visual separators and a superfluous national prefix are ignored`(row: Row) throws {
        #expect(try Self.normalise(row) == row.expected)
    }

    @Test(arguments: [
        "", "+", "-", "()", "anonymous", "Anonymous", "restricted", "unavailable", "unknown", "asterisk", "sip:1",
        "*67", "*672125551234", "#31#0412345678", "2125551234#", "911", "112", "000", "999", "110", "12345", "100",
        "1800FLOWERS", "1-800-MICROSOFT", "+1800FLOWERS", "2125551234x12", "2125551234;ext=12",
        "2125551234,,12", "+12125551234 ext. 5", "++12125551234", "+1+2125551234", "2125551234+", "+0123456789",
        "0", "00", "0000000000000000", "+999123456789", "+1212555", "+121255512345", "+1234567890123456",
        "12345678901234567890", "+61 4 1 2 3 4 5 6 7 8 (((((((((((((((", "٠٤١٢٣٤٥٦٧٨", "＋６１４１２３４５６７８",
        "+61412345678\0", "+61412345678\r\n", "\t+61412345678", "+61%20412345678",
    ])
    func `text that is not certainly one number is rejected`(text: String) throws {
        for region in ["AU", "GB", "DE", "US", "NZ", "FR"] {
            #expect(try Self.normalise(Row(text, region, nil)) == nil, "in \(region)")
        }
        #expect(try Self.normalise(Row(text, nil, nil)) == nil)
    }

    @Test(arguments: ["AU", "GB", "US", "NZ", "FR"])
    func `a local number without its area code is rejected`(region: String) throws {
        #expect(try Self.normalise(Row("5551234", region, nil)) == nil)
    }

    @Test(arguments: ["0412345678", "442079460018", "00442079460018", "2125551234"])
    func `without a region only numbers with a plus sign are accepted`(text: String) throws {
        #expect(try Self.normalise(Row(text, nil, nil)) == nil)
    }

    @Test(arguments: [
        // Either an international number, or a German national number without its zero. Both are allocated.
        Row("49238900", "DE", nil),
        Row("492437029049", "DE", nil),
        // An Italian mobile number. 31234567 with Italy's code is in no allocated range.
        Row("3931234567", "IT", "+393931234567"),
        // In Vienna, or in Kiel without its zero. In a region that dials no zero, bare digits are a national number.
        Row("4315012345", "DE", nil),
        Row("0431501234", "DE", "+49431501234"),
        Row("412345678", "AU", "+61412345678"),
        Row("2125551234", "US", "+12125551234"),
    ])
    func `ambiguous digits are accepted only if one reading is impossible`(row: Row) throws {
        #expect(try Self.normalise(row) == row.expected)
    }

    @Test(arguments: [
        ("2079460018", "+44", "AU", "+442079460018"),
        ("02079460018", "+44", "AU", "+442079460018"),
        ("863-1234", "+1-914", "AU", "+19148631234"),
        ("0412345678", "own.example", "AU", "+61412345678"),
        ("0412345678", "OWN.Example", "AU", "+61412345678"),
        ("0412345678", "example.com", "AU", nil),
        ("0412345678", "not-own.example", "AU", nil),
        ("0412345678", "", "AU", nil),
        ("+442079460018", "+61", "AU", "+442079460018"),
        ("+442079460018", "example.com", "AU", "+442079460018"),
        ("7042", "own.example", "AU", nil),
        ("7042", "+44", "AU", nil),
        ("2079460018", "+44;evil", "AU", nil),
        ("2079460018", "+", "AU", nil),
        ("2079460018", "+4412345678901234567890123", "AU", nil),
    ])
    func `a global phone-context is prepended and a domain must be the trunk's own, RFC 3966 §5.1.5`(
        text: String, context: String, region: String, expected: String?
    ) {
        let normaliser = NumberNormaliser(region: Region(region), contexts: ["Own.example"])
        #expect(normaliser.normalise(Array(text.utf8), context: Array(context.utf8))?.description == expected)
    }

    @Test(arguments: [
        // No area code of North America begins with 0 or 1 (NANP: NXX, N from 2 to 9).
        Row("0491570156", "US", nil), Row("0255501303", "US", nil), Row("0299991234", "CA", nil),
        Row("+10491570156", "AU", nil), Row("+11234567890", nil, nil), Row("1234567890", "US", nil),
        // The United Kingdom has no numbers that begin with 4 or 6 (Ofcom's National Telephone Numbering Plan).
        Row("0491570156", "GB", nil), Row("0612345678", "GB", nil), Row("+44491570156", nil, nil),
        // Australia: 2, 3, 4, 7, 8 and the special services of 1.
        Row("0612345678", "AU", nil), Row("0951234567", "AU", nil), Row("+61612345678", nil, nil),
        // Spain, Denmark and Singapore.
        Row("212345678", "ES", nil), Row("11234567", "DK", nil), Row("21234567", "SG", nil),
        // A wrong region can make numbers that exist. Nothing here can know.
        Row("0491570156", "FR", "+33491570156"), Row("2125551234", "US", "+12125551234"),
        // Zero begins numbers of Italy and Congo.
        Row("+390669811234", nil, "+390669811234"), Row("0669811234", "IT", "+390669811234"),
        Row("+242061234567", nil, "+242061234567"),
    ])
    func `a number that cannot exist in its numbering plan is not certain, ITU-T E.164 §6.2`(row: Row) throws {
        #expect(try Self.normalise(row) == row.expected)
    }

    @Test(arguments: [
        // Carriers send 00 and a calling code in regions that dial 0011 or 011.
        Row("0061491570156", "AU", "+61491570156"),
        Row("0061255501303", "AU", "+61255501303"),
        Row("00442079460018", "AU", "+442079460018"),
        Row("0012025550123", "AU", "+12025550123"),
        Row("0061491570156", "US", "+61491570156"),
        Row("00442079460018", "US", "+442079460018"),
        // The international prefix of the region.
        Row("0011442079460018", "AU", "+442079460018"),
        Row("011442079460018", "US", "+442079460018"),
        Row("00442079460018", "DE", "+442079460018"),
        Row("001442079460018", "SG", "+442079460018"),
        // No calling code, or no certain number. The result must not be an Australian number with an extra zero.
        Row("00999123456789", "AU", nil),
        Row("00255501303", "AU", nil),
        Row("000491570156", "AU", nil),
        Row("00", "AU", nil),
    ])
    func `two zeros and a calling code are international if no other reading exists`(row: Row) throws {
        #expect(try Self.normalise(row) == row.expected)
    }

    @Test(arguments: [
        Row("+86282452253", "US", nil), Row("+86282452253", nil, nil), Row("86282452253", "CN", nil),
        Row("0086282452253", "GB", nil), Row("+266696687", "AU", nil), Row("+7378742833", "RU", nil),
        Row("+688632732", nil, nil), Row("+94844353", nil, nil),
        // The same digits without a plus sign can be a number of the region.
        Row("7378742833", "US", "+17378742833"), Row("266696687", "AU", "+61266696687"),
    ])
    func `a word spelled on the keypad is rejected, ITU-T E.161`(row: Row) throws {
        #expect(try Self.normalise(row) == row.expected)
    }

    @Test(arguments: [
        "1300FLOWERS", "+1800FLOWERS", "1-800-FLOWERS", "harbour61255501303", "UNAVAILABLE", "04abcdefgh",
        "0491570156x1",
    ])
    func `letters are never read as keypad digits`(text: String) throws {
        for region in ["AU", "US", nil] { #expect(try Self.normalise(Row(text, region, nil)) == nil) }
    }

    @Test func `every example number of every region is read in both forms`() throws {
        var seen = 0
        for region in Region.all {
            let normaliser = NumberNormaliser(region: region)
            for example in Examples.of(region) {
                seen += 1
                guard let number = E164Number(digits: example.digits) else { continue }
                let isPossible = Library.read("+\(example.digits)") == number
                #expect(normaliser.normalise(Array("+\(example.digits)".utf8)) == (isPossible ? number : nil))
                let national = Library.read(example.national, region)
                let result = normaliser.normalise(Array(example.national.utf8))
                // Nil if the digits can also be an international number. Never another number.
                #expect(result == national || result == nil, "\(example.national) in \(region)")
                let hasZero = example.national.hasPrefix("0")
                let dialsZero = CallingCodePlan.shared.dialsZero(code: region.callingCode)
                if national == number, hasZero || !dialsZero && !example.national.hasPrefix("\(region.callingCode)") {
                    #expect(result == number, "\(example.national) in \(region)")
                }
            }
        }
        #expect(seen > 1000)
    }

    @Test func `no number of an allocated range is lost to the table of first digits`() throws {
        for example in Region.all.flatMap(Examples.of) {
            for text in Examples.neighbours(of: example.digits) {
                guard let number = E164Number("+\(text)"), herald_phone_is_allocated(number.digits) == 1 else {
                    continue
                }
                guard !KeypadWords.areSpelled(by: number.digits), Library.read("+\(text)") == number else { continue }
                #expect(NumberNormaliser(region: nil).normalise(Array("+\(text)".utf8)) == number, "+\(text)")
            }
        }
    }

    @Test func `the fast path returns the same result as the library`() throws {
        // Fixed lengths and leading digits around every example number, where numbering plans differ most.
        let plan = CallingCodePlan.shared
        var fast = 0
        for example in Region.all.flatMap(Examples.of) {
            for text in Examples.neighbours(of: example.digits) {
                guard let number = E164Number("+\(text)") else { continue }
                guard plan.accepts(number, digitCount: text.utf8.count) else { continue }
                fast += 1
                #expect(Library.read("+\(text)") == number, "+\(text)")
            }
        }
        #expect(fast > 2000)
    }

    @Test(arguments: [
        "+61412345678", "+442079460018", "+4915112345678", "+12125551234", "+6494881234", "+33612345678",
        "+390669811234", "+78123456789",
    ])
    func `plain E.164 numbers take the fast path unless a national prefix may follow the code`(text: String) throws {
        let number = try #require(E164Number(text))
        let needsLibrary = text.hasPrefix("+78")
        #expect(CallingCodePlan.shared.accepts(number, digitCount: text.utf8.count - 1) == !needsLibrary)
        #expect(try Self.normalise(Row(text, nil, nil)) == text)
    }

    @Test func `a slice of a larger message is read like a separate text`() {
        let message = Array("sip:+61412345678@example.com".utf8)
        #expect(NumberNormaliser(region: nil).normalise(message[4..<16])?.description == "+61412345678")
    }
}

/// Calls the library directly, as the reference for the fast path.
enum Library {
    static func read(_ text: String, _ region: Region? = nil) -> E164Number? {
        var digits: UInt64 = 0
        let result = text.withCString { text, length in
            guard let region else { return herald_phone_normalise(text, length, nil, &digits) }
            return region.withLetters { herald_phone_normalise(text, length, $0, &digits) }
        }
        return result == HERALD_PHONE_OK ? E164Number(digits: digits) : nil
    }
}

extension String {
    fileprivate func withCString<Result>(_ body: (UnsafePointer<CChar>, Int) -> Result) -> Result {
        let length = utf8.count
        return withCString { body($0, length) }
    }
}

/// Example numbers from the library.
enum Examples {
    struct Example {
        let digits: UInt64
        let national: String
    }

    static func of(_ region: Region) -> [Example] {
        var examples: [Example] = []
        var type: CInt = 0
        while true {
            var digits: UInt64 = 0
            var national = [CChar](repeating: 0, count: 24)
            let result = region.withLetters { herald_phone_example($0, type, &digits, &national) }
            if result < 0 { return examples }
            if result == 1 {
                let text = String(decoding: national.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                examples.append(Example(digits: digits, national: text))
            }
            type += 1
        }
    }

    /// Returns the number, one digit shorter, one digit longer, and with every digit after the first digit of its
    /// calling code.
    static func neighbours(of digits: UInt64) -> [String] {
        let text = String(digits)
        var all = [text, String(text.dropLast()), text + "5"]
        for position in 1...3 {
            for digit in 0...9 {
                var changed = Array(text)
                changed[position] = Character("\(digit)")
                all.append(String(changed))
            }
        }
        return all
    }
}
