// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@Suite("Suggestions for mistyped names")
struct NearestNameTests {
    @Test(arguments: [
        ("regoin", "region"), ("REGION", "region"), ("sourcs", "sources"), ("nexthop", "next_hop"), ("polcy", "policy"),
        ("xyz", nil), ("", nil), ("trunk", nil), ("sourcesoutside", nil),
    ])
    func `the most similar name is suggested and a dissimilar one is not`(word: String, expected: String?) {
        #expect(NearestName.find(word, among: ["region", "sources", "next_hop", "policy"]) == expected)
    }

    @Test func `a long word costs no comparison with each name`() {
        let long = String(repeating: "a", count: 100_000)
        #expect(NearestName.hint(long, among: Array(repeating: "region", count: 1_000)).isEmpty)
    }
}
