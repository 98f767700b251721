// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DirectoryStore

@Suite("Versions of values")
struct ValueVersionTests {
    private static func version(_ name: String?, _ logo: String? = nil, id: String = "acme") -> ValueVersion {
        ValueVersion(of: id, [("brand_name", name), ("logo_url", logo)])
    }

    @Test func `equal values have equal versions, and every other value has another`() {
        #expect(Self.version("Acme") == Self.version("Acme", ""))
        let others = [
            Self.version("acme"), Self.version("Acme", "a"), Self.version(nil, "Acme"), Self.version("Acme", id: "b"),
            Self.version("Acme "), Self.version("Ac", "me"),
        ]
        #expect(Set(others + [Self.version("Acme")]).count == 7)
        #expect(Self.version("Acme").text.wholeMatch(of: /[0-9a-f]{16}-[0-9a-f]{4}-[0-9a-f]{4}/) != nil)
    }

    @Test func `the fields that differ are named, and all of them for an unreadable version`() {
        let present = Self.version("Acme", "a.png")
        #expect(present.fields(changedSince: Self.version("Acme").text) == ["logo_url"])
        #expect(present.fields(changedSince: Self.version("Other", "a.png").text) == ["brand_name"])
        #expect(present.fields(changedSince: Self.version("Other").text) == ["brand_name", "logo_url"])
        for unreadable in [nil, "", "*", "0", "a-b", "0123456789abcdef-0000-0000-0000", "W/\"0\""] {
            #expect(present.fields(changedSince: unreadable) == ["brand_name", "logo_url"])
        }
    }
}
