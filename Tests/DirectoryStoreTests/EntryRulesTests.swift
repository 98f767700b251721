// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DirectoryStore

@Suite("Rules for the fields of a brand")
struct EntryRulesTests {
    @Test(arguments: [
        ("Acme Bank", "acme-bank"), ("  Müller & Söhne  ", "müller-söhne"), ("4711", "4711"), ("&", nil), ("", nil),
    ]) func `an identifier is made of the letters and digits of a name`(name: String, expected: String?) {
        #expect(EntryRules.identifier(of: name) == expected)
    }

    @Test(arguments: [(63, 63), (64, 64), (65, 64), (200, 64)])
    func `a derived identifier is as long as a brand's may be`(length: Int, expected: Int) throws {
        let identifier = try #require(EntryRules.identifier(of: String(repeating: "a", count: length)))
        #expect(identifier.count == expected)
        #expect(EntryRules.problem("brand_id", identifier) == nil)
    }

    @Test(arguments: ["brand_id", "call_reason", "brand_name"]) func `a field has a limit`(field: String) {
        #expect(EntryRules.problem(field, String(repeating: "a", count: 20)) == nil)
        #expect(EntryRules.problem(field, String(repeating: "a", count: 2_000))?.hasPrefix(field) == true)
    }
}
