// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("Arrays in huge pages")
struct LargePagesTests {
    @Test func `an array of more than two huge pages keeps its elements`() {
        let numbers = [UInt64](inLargePages: 1 << 20) { slots in
            for slot in slots.indices { slots.initializeElement(at: slot, to: UInt64(slot) &* 0x9E37_79B9) }
            return slots.count
        }
        #expect(numbers.indices.allSatisfy { numbers[$0] == UInt64($0) &* 0x9E37_79B9 })
        #expect(numbers.inLargePages() == numbers)
        #expect([UInt32](zeroes: 3 << 20).allSatisfy { $0 == 0 })
    }
}
