// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@Suite("Indexes with the same brands share memory")
struct SharedBrandIndexTests {
    private func index(_ names: [String], generation: Int64, profile: RenderingProfile = .init()) throws -> BrandIndex {
        var builder = BrandIndexBuilder(profile: profile, generation: generation, expectedCount: names.count)
        for (position, name) in names.enumerated() {
            builder.add(
                BrandRecord(
                    number: try number("+6125550100\(position)"), name: name, brandID: name, logoURL: "",
                    callReason: "", updatedAt: "2026-01-01T00:00:00Z"))
        }
        return builder.finish()
    }

    private func number(_ text: String) throws -> E164Number { try #require(E164Number(text)) }

    @Test func `equal ones share, each with its generation`() throws {
        let (one, two) = (try index(["Acme", "Beta"], generation: 3), try index(["Acme", "Beta"], generation: 8))
        #expect(one.memoryIdentity != two.memoryIdentity)
        let shared = two.shared(with: [one])
        #expect(shared.memoryIdentity == one.memoryIdentity && shared.generation == 8)
        let entry = try #require(shared.entry(for: try number("+61255501001")))
        #expect(shared.text(.name, entry) == "Beta")
    }

    @Test(arguments: [["Acme"], ["Acme", "Gamma"], ["Beta", "Acme"], ["Acme", "Beta", "Beta"], []])
    func `others do not`(names: [String]) throws {
        let two = try index(["Acme", "Beta"], generation: 1)
        #expect(two.shared(with: [try index(names, generation: 1), two]) === two)
    }

    @Test func `other rules of rendering are other brands`() throws {
        var profile = RenderingProfile()
        profile.maxNameBytes = 20
        let two = try index(["Acme"], generation: 1, profile: profile)
        #expect(two.shared(with: [try index(["Acme"], generation: 1)]) === two)
    }

    @Test func `a change of one leaves the other as it was`() throws {
        let one = try index(["Acme", "Beta"], generation: 1)
        let two = try index(["Acme", "Beta"], generation: 1).shared(with: [one])
        var change = BrandIndexChange(of: two, generation: 2)
        change.remove(try number("+61255501000"))
        let next = change.finish()
        #expect(next.count == 1 && one.count == 2 && two.count == 2)
        #expect(one.entry(for: try number("+61255501000")) != nil)
    }
}
