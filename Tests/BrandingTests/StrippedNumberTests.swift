// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@Suite("Numbers whose plus sign the sender may have removed")
struct StrippedNumberTests {
    @Test(
        arguments: [
            // A number of the region, in both forms.
            ("61255501301", "AU", "+61255501301"), ("0255501301", "AU", "+61255501301"),
            ("12025551000", "US", "+12025551000"), ("2025551000", "US", "+12025551000"),
            ("0011442079460018", "AU", "+442079460018"),
            // An international one, of an allocated range.
            ("447911123456", "AU", "+447911123456"), ("4930123456", "AU", "+4930123456"),
            ("447911123456", nil, "+447911123456"), ("+447911123456", "AU", "+447911123456"),
            // A number in Utah, or in Austria: nobody has the name of the other.
            ("4355551234", "US", nil), ("4350123456", "US", "+4350123456"),
            // Neither.
            ("12", "AU", nil), ("", "AU", nil), ("00", "AU", nil),
            ("0255501301", nil, nil), ("[Number]", "AU", nil),
            ("6125550130161255501301612555013016125550130", "AU", nil),
        ] as [(String, String?, String?)])
    func `digits are a number of the region, or one without its plus sign`(
        text: String, region: String?, expected: String?
    ) throws {
        let normaliser = NumberNormaliser(region: try region.map { try #require(Region($0)) })
        #expect(normaliser.normaliseWithoutPlus(Array(text.utf8)[...])?.description == expected)
    }
}
