// SPDX-License-Identifier: Apache-2.0

/// The largest number of transactions at a time: configured, or derived from the memory of the machine.
package struct TransactionBudget: Hashable, Sendable {
    /// The most that is taken without being configured.
    package static let usual = 200_000
    /// The least: less would refuse the calls of a small office.
    package static let least = 1_000
    /// Bytes of memory for one transaction of the bound: 6 kB of messages on average and 2 kB for itself, and
    /// as much again that requests of dialogs may take.
    package static let bytesOfOne: UInt64 = 16_384

    /// Transactions at once; requests of dialogs may take as many again.
    package let most: Int
    /// Bytes of memory of which it takes at most half, unless it is configured.
    package let memory: UInt64
    package let isConfigured: Bool

    /// - Parameters:
    ///   - configured: `limits.max_transactions`; nil to go by the memory.
    ///   - memory: bytes that the process may use.
    package init(configured: Int?, memory: UInt64) {
        self.memory = memory
        isConfigured = configured != nil
        let fitting = Int(clamping: memory / 2 / Self.bytesOfOne)
        most = configured ?? min(max(fitting, Self.least), Self.usual)
    }

    /// Bytes that all of them take at the most.
    package var bytes: UInt64 { UInt64(clamping: most) * Self.bytesOfOne }

    /// True where they may take more memory than is there for them.
    package var isShort: Bool { bytes > memory / 4 * 3 }
}
