// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Foundation
import Testing

@Suite("Entries of a sync response")
struct BrandingItemTests {
    private func item(_ json: String) throws -> BrandingItem {
        try JSONDecoder().decode(BrandingItem.self, from: Data(json.utf8))
    }

    @Test func `a complete entry is decoded with the contract's names`() throws {
        let read = try item(
            #"""
            {"phone_number_e164":"+61491570156","brand_name":"Acme","brand_id":"b1","updated_at":"2026-01-31T12:00:00.5Z",
             "logo_url":"https://l.example/a.png","call_reason":"Your order","is_active":true,"unheard_of":[1]}
            """#)
        let expected = BrandingItem(
            phoneNumber: "+61491570156", brandName: "Acme", brandID: "b1", updatedAt: "2026-01-31T12:00:00.5Z",
            logoURL: "https://l.example/a.png", callReason: "Your order", isActive: true)
        #expect(read == expected)
        let record = try read.record()
        #expect(
            record
                == BrandRecord(
                    number: try #require(E164Number("+61491570156")), name: "Acme", brandID: "b1",
                    logoURL: "https://l.example/a.png", callReason: "Your order", updatedAt: "2026-01-31T12:00:00.5Z"))
        #expect(BrandingItem(record, isActive: true) == expected)
    }

    @Test(arguments: [
        #"{"phone_number_e164":"+61491570156","brand_name":"Acme"}"#,
        #"{"phone_number_e164":"+61491570156","brand_name":"Acme","brand_id":null,"updated_at":null,"logo_url":null,"call_reason":null,"is_active":null}"#,
        #"{"phone_number_e164":"+61491570156","brand_name":"Acme","logo_url":"","call_reason":"  ","is_active":{}}"#,
    ])
    func `missing, null and empty fields are absent`(json: String) throws {
        let read = try item(json)
        #expect(read.isActive == nil)
        let record = try read.record()
        #expect(record.brandID == "")
        #expect(record.updatedAt == "")
        #expect(record.logoURL == nil)
        #expect(record.callReason == nil)
    }

    @Test(arguments: [("false", false), ("0", false), ("\"false\"", false), ("true", true), ("1", true)])
    func `an inactive entry is decoded in every spelling`(spelling: String, expected: Bool) throws {
        let read = try item(#"{"phone_number_e164":"+61491570156","brand_id":42,"is_active":\#(spelling)}"#)
        #expect(read.isActive == expected)
        #expect(read.brandID == "42")
    }

    @Test(
        arguments: [
            ("", "Acme", BrandingItemError.noValidNumber), ("61491570156", "Acme", .noValidNumber),
            ("+0491570156", "Acme", .noValidNumber), ("+614915701560000000", "Acme", .noValidNumber),
            ("+61491570156", nil, .noName), ("+61491570156", "", .noName), ("+61491570156", " \n\t ", .noName),
        ] as [(String, String?, BrandingItemError)])
    func `an entry without a valid number or a name has no record`(
        number: String, name: String?, error: BrandingItemError
    ) {
        #expect(throws: error) { try BrandingItem(phoneNumber: number, brandName: name).record() }
    }

    @Test func `texts are cut between characters`() throws {
        let family = "👩‍👩‍👧‍👦"
        let record = try BrandingItem(
            phoneNumber: "+61491570156", brandName: " " + String(repeating: family, count: 101),
            logoURL: "https://l.example/" + String(repeating: "l", count: 2040),
            callReason: String(repeating: "é", count: 199) + "  end"
        ).record()
        #expect(record.name == String(repeating: family, count: 100))
        #expect(record.callReason == String(repeating: "é", count: 199))
        #expect(record.logoURL == nil)
    }

    @Test func `an entry without a number cannot be decoded`() {
        #expect(throws: DecodingError.self) { try item(#"{"brand_name":"Acme"}"#) }
    }
}
