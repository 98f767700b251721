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
        #expect(budget.streamBytes == 0)
    }

    @Test(
        arguments: [
            // Memory, configured transactions, bytes of connections, short.
            (UInt64(64) << 30, nil, 1 << 30, false), (1 << 30, nil, 256 << 20, false),
            (400 << 20, nil, 100 << 20, false),
            // Configured transactions leave less, and at least 16 MiB.
            (1 << 30, 40_000, 149_946_368, false), (1 << 30, 48_000, 18_874_368, false),
            (1 << 30, 60_000, 16 << 20, true), (8 << 20, nil, 16 << 20, true),
        ] as [(UInt64, Int?, UInt64, Bool)])
    func `connections get a quarter of it, and both together three quarters`(
        memory: UInt64, configured: Int?, bytes: UInt64, isShort: Bool
    ) {
        let budget = TransactionBudget(configured: configured, memory: memory, hasStreams: true)
        #expect(budget.streamBytes == bytes && budget.isShort == isShort)
    }
}
