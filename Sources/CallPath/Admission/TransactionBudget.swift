// SPDX-License-Identifier: Apache-2.0

/// The memory for transactions and for TCP and TLS connections: configured, or derived from the memory of the machine.
///
/// Transactions take half of it, connections a quarter. The rest is for brands, buffers and everything else.
public struct TransactionBudget: Hashable, Sendable {
    /// The most that is taken without being configured.
    public static let usual = 200_000
    /// The least: less would refuse the calls of a small office.
    public static let least = 1_000
    /// Bytes of memory for one transaction of the bound: 6 kB of messages on average and 2 kB for itself, and
    /// as much again that requests of dialogs may take.
    public static let bytesOfOne: UInt64 = 16_384

    /// The least and the most for the messages and buffers of all connections, in bytes.
    public static let leastOfStreams: UInt64 = 16 << 20
    public static let mostOfStreams: UInt64 = 1 << 30

    /// Transactions at once; requests of dialogs may take as many again.
    public let most: Int
    /// Bytes of memory of which it takes at most half, unless it is configured.
    public let memory: UInt64
    public let isConfigured: Bool
    /// Bytes that all TCP and TLS connections may hold; 0 where no address uses them.
    public let streamBytes: UInt64

    /// - Parameters:
    ///   - configured: `limits.max_transactions`; nil to go by the memory.
    ///   - memory: bytes that the process may use.
    ///   - hasStreams: whether an address uses TCP or TLS.
    public init(configured: Int?, memory: UInt64, hasStreams: Bool = false) {
        self.memory = memory
        isConfigured = configured != nil
        let fitting = Int(clamping: memory / 2 / Self.bytesOfOne)
        most = configured ?? min(max(fitting, Self.least), Self.usual)
        let taken = UInt64(clamping: most) * Self.bytesOfOne
        let left = memory / 4 * 3 > taken ? memory / 4 * 3 - taken : 0
        streamBytes =
            hasStreams ? min(max(min(memory / 4, left), Self.leastOfStreams), Self.mostOfStreams) : 0
    }

    /// Bytes that all of them take at the most.
    public var bytes: UInt64 { UInt64(clamping: most) * Self.bytesOfOne }

    /// True where both may take more memory than is there for them.
    public var isShort: Bool { bytes + streamBytes > memory / 4 * 3 }
}
