// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("Emergency numbers of a region, 3GPP TS 22.101 §10.1")
struct EmergencyNumbersTests {
    private func contains(_ text: String, in region: String?, own: [String] = []) throws -> Bool {
        let numbers = EmergencyNumbers(region: try region.map { try #require(Region($0)) }, own: own)
        let bytes = Array("<\(text)>".utf8)
        return numbers.contains(bytes.span, 1..<(bytes.count - 1))
    }

    @Test(arguments: [
        ("AU", ["000", "106", "112", "911"], ["00", "0000", "110", "999", "1061"]),
        ("US", ["911", "112"], ["000", "411", "9110", "9911"]),
        ("GB", ["999", "112", "911"], ["111", "000", "9999"]),
        ("DE", ["110", "112"], ["115", "0112"]),
        ("FR", ["15", "17", "18", "112"], ["1", "155"]),
        ("NZ", ["111"], ["110"]),
        ("ZA", ["10111", "10177", "112"], ["10112", "1011"]),
        ("SE", ["112", "90000"], ["90001"]),
        ("GA", ["1399", "1730", "18"], ["1400"]),
    ])
    func `each region has its own emergency numbers and also 112 and 911`(
        region: String, emergency: [String], ordinary: [String]
    ) throws {
        for text in emergency { #expect(try contains(text, in: region), "\(text)") }
        for text in ordinary { #expect(try !contains(text, in: region), "\(text)") }
    }

    @Test func `without a region only 112 and 911 are emergency numbers`() {
        #expect(EmergencyNumbers(region: nil).dialled == ["112", "911"])
    }

    @Test(arguments: [
        // Separators of RFC 3966 §5.1.1, escapes of RFC 3261 §19.1.2, and a calling code after a plus sign.
        ("1-1-2", true), ("(1)1.2", true), ("%31%31%32", true), ("1%2D12", true), ("0%300", true), ("+000", true),
        ("+61000", true), ("+61 112", true), ("+%361000", true), ("%2B61000", true),
        ("61000", false), ("+64000", false), ("+6100", false), ("+610000", false), ("+61255501303", false), ("", false),
        ("+", false), ("++000", false), ("000x", false), ("000;x", false), ("%3", false), ("%zz", false),
        ("0 00", true),
        ("*000", false), ("000#", false), ("911911911911911911911911911911", false),
    ])
    func `an emergency number is recognised in every spelling`(text: String, isEmergency: Bool) throws {
        #expect(try contains(text, in: "AU") == isEmergency)
    }

    @Test func `an operator's own emergency numbers are recognised as dialled`() throws {
        let own = ["0000", "0112", "9", "12345678901234", "+112", "abc"]
        #expect(try contains("0000", in: "AU", own: own))
        #expect(try contains("0-112", in: "AU", own: own))
        #expect(try !contains("9", in: "AU", own: own), "one digit is not an emergency number")
        #expect(EmergencyNumbers(region: nil, own: own).dialled == ["0000", "0112", "112", "911"])
    }

    @Test func `the union of several trunks has the numbers of each`() throws {
        let all = EmergencyNumbers(
            of: [EmergencyNumbers(region: Region("AU")), EmergencyNumbers(region: Region("NZ"), own: ["0111"])])
        for text in ["000", "111", "0111", "+61000", "+64111"] {
            let bytes = Array(text.utf8)
            let isKnown = all.contains(bytes.span, 0..<bytes.count)
            #expect(isKnown, "\(text)")
        }
        #expect(!all.dialled.contains("999"))
    }
}
