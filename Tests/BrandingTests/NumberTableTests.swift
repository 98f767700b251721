// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("Checks of saved arrays")
struct NumberTableTests {
    @Test func `the arrays of a table restore the same table`() throws {
        var table = NumberTable(expectedCount: 3)
        for digits in UInt64(61_255_501_230)..<61_255_501_233 {
            table.put(1, under: digits, in: table.slot(for: digits).slot)
        }
        let copy = try #require(NumberTable(keys: table.keys, values: table.values, count: 3, valueLimit: 2))
        #expect(copy.value(of: try BrandIndexTests.number(61_255_501_231)) == 1)
        #expect(copy.value(of: try BrandIndexTests.number(61_255_501_239)) == nil)
    }

    @Test(arguments: [
        (keys: [UInt64](), values: [UInt32](), count: 0),
        (keys: [0, 0, 0], values: [0, 0], count: 0),
        (keys: [1, 2, 3], values: [0, 0, 0], count: 3),
        (keys: [1, 0, 0], values: [0, 0, 0], count: 2),
        (keys: [1, 2, 0], values: [0, 0, 0], count: 1),
        (keys: [1, 0, 0], values: [2, 0, 0], count: 1),
    ])
    func `arrays that would break a lookup are rejected`(keys: [UInt64], values: [UInt32], count: Int) {
        #expect(NumberTable(keys: keys, values: values, count: count, valueLimit: 2) == nil)
    }

    @Test func `a row that points outside the arena is rejected`() {
        let arena = [UInt8](repeating: 0x22, count: 10)
        let good = RenderedBrands.Row(start: 2, quotedName: 4, icon: 4)
        #expect(RenderedBrands(rows: [good], arena: arena) != nil)
        #expect(RenderedBrands(rows: [.init(start: 7, quotedName: 4)], arena: arena) == nil)
        #expect(RenderedBrands(rows: [.init(start: .max, quotedName: 4)], arena: arena) == nil)
        #expect(RenderedBrands(rows: [.init(start: 0, quotedName: 1)], arena: arena) == nil)
    }

    @Test func `a row has no padding`() {
        #expect(MemoryLayout<RenderedBrands.Row>.size == 24)
        #expect(MemoryLayout<RenderedBrands.Row>.stride == 24)
    }
}
