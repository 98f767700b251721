// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("Regions, ISO 3166-1")
struct RegionTests {
    @Test(arguments: [("AU", 61), ("GB", 44), ("DE", 49), ("US", 1), ("CA", 1), ("NZ", 64), ("FR", 33), ("FI", 358)])
    func `a region has its calling code`(text: String, code: Int) throws {
        let region = try #require(Region(text))
        #expect(region.callingCode == code)
        #expect(region.description == text)
    }

    @Test(arguments: ["", "A", "au", "Au", "AUS", "ZZ", "XX", "61", "A\0", "ÄU", "A ", "001"])
    func `text other than two letters of a known region is rejected`(text: String) {
        #expect(Region(text) == nil)
    }

    @Test func `all regions are listed once, in order, and each is accepted`() {
        let names = Region.all.map(\.description)
        #expect(names.count > 200)
        #expect(names == Set(names).sorted())
        #expect(names.allSatisfy { Region($0) != nil })
    }
}
