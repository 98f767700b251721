// SPDX-License-Identifier: Apache-2.0

import CallPath
import Testing

@Suite("How many transactions the memory holds")
struct TransactionBudgetTests {
    @Test(
        arguments: [
            // Memory, configured, at most, short.
            (UInt64(64) << 30, nil, 200_000, false), (8 << 30, nil, 200_000, false), (4 << 30, nil, 131_072, false),
            (1 << 30, nil, 32_768, false), (512 << 20, nil, 16_384, false), (8 << 20, nil, 1_000, true),
            (1 << 30, 200_000, 200_000, true), (16 << 30, 1_000_000, 1_000_000, true), (1 << 30, 10_000, 10_000, false),
            (0, nil, 1_000, true),
        ] as [(UInt64, Int?, Int, Bool)])
    func `half of it, unless configured`(memory: UInt64, configured: Int?, most: Int, isShort: Bool) {
        let budget = TransactionBudget(configured: configured, memory: memory)
        #expect(budget.most == most && budget.isShort == isShort && budget.isConfigured == (configured != nil))
    }
}
