// SPDX-License-Identifier: Apache-2.0

import CPhoneNumber
import SeededRandom
import Testing

@testable import Branding

@Suite("C interface to libphonenumber")
struct PhoneNumberDoorTests {
    private static func normalise(_ text: [CChar], _ region: String?) -> CInt {
        var digits: UInt64 = 0
        let result = text.withUnsafeBufferPointer { text in
            guard let region else { return herald_phone_normalise(text.baseAddress, text.count, nil, &digits) }
            return herald_phone_normalise(text.baseAddress, text.count, region, &digits)
        }
        #expect((result == HERALD_PHONE_OK) == (digits != 0), "digits are written on success only")
        return result
    }

    @Test(
        arguments: [
            ("+61412345678", nil, HERALD_PHONE_OK),
            ("0412345678", "AU", HERALD_PHONE_OK),
            ("0412345678", nil, HERALD_PHONE_NOT_A_NUMBER),
            ("0412345678", "ZZ", HERALD_PHONE_NOT_A_NUMBER),
            ("0412345678", "\u{1}\u{2}", HERALD_PHONE_NOT_A_NUMBER),
            ("+61412345678 ext. 5", nil, HERALD_PHONE_NOT_A_NUMBER),
            ("tel:+61412345678;ext=5", nil, HERALD_PHONE_NOT_A_NUMBER),
            ("+12125551", nil, HERALD_PHONE_NOT_POSSIBLE),
            ("5551234", "US", HERALD_PHONE_NOT_POSSIBLE),
            ("", "AU", HERALD_PHONE_NOT_A_NUMBER),
            ("\0\0\0", "AU", HERALD_PHONE_NOT_A_NUMBER),
        ] as [(String, String?, Int)])
    func `a text is a number, not a number, or not possible`(text: String, region: String?, expected: Int) {
        #expect(Int(Self.normalise(text.utf8.map(CChar.init(bitPattern:)), region)) == expected)
    }

    @Test func `more than 64 bytes and empty text are rejected`() {
        let digit = CChar(bitPattern: UInt8(ascii: "1"))
        #expect(Int(Self.normalise(Array(repeating: digit, count: 65), "US")) == HERALD_PHONE_REFUSED)
        var digits: UInt64 = 0
        #expect(Int(herald_phone_normalise(nil, 0, nil, &digits)) == HERALD_PHONE_REFUSED)
        #expect(Int(herald_phone_normalise("+61412345678", 12, nil, nil)) == HERALD_PHONE_REFUSED)
        #expect(herald_phone_region_known(nil) == 0)
        #expect(herald_phone_calling_code(nil) == 0)
    }

    @Test func `bytes that are not text are rejected without a crash`() {
        // Asserts that no bytes end the process, neither by a read past their end nor by a C++ exception.
        var random = RepeatableRandom(seed: 5)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...64, using: &random)).map { _ in
                CChar(truncatingIfNeeded: Int.random(in: 0...255, using: &random))
            }
            _ = Self.normalise(bytes, "DE")
        }
    }

    @Test func `concurrent threads get equal results`() async {
        let texts = ["0412345678", "0011442079460018", "0299991234", "anonymous", "61412345678"]
        let normaliser = NumberNormaliser(region: Region("AU"))
        let expected = texts.map { normaliser.normalise(Array($0.utf8)) }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask { @concurrent in
                    (0..<50).allSatisfy { _ in texts.map { normaliser.normalise(Array($0.utf8)) } == expected }
                }
            }
            for await agrees in group { #expect(agrees) }
        }
    }

    @Test func `allocated numbers are distinguished from merely possible ones`() {
        #expect(herald_phone_is_allocated(442_079_460_018) == 1)
        #expect(herald_phone_is_allocated(441_111_111_111) == 0)
        #expect(herald_phone_is_allocated(0) == 0)
    }
}
