// SPDX-License-Identifier: Apache-2.0

/// Transactions by their branch, which names them (RFC 3261 §17.1.3, §17.2.3), in parts of which each grows by itself.
///
/// A table grows by taking all it has to a larger one: with one for all, the call that made it grow, and what came after,
/// waited 10 ms at 98,304 transactions, 44 at 196,608 and 127 at 393,216 (a loop of nothing but that beside other work, an
/// EPYC). With 256 parts the longest wait there was 0.3 ms up to 400,000. Owned by one thread.
struct BranchTable {
    private static let partBits: UInt64 = 8

    private var parts = [[Branch: ProxyTransaction]](repeating: [:], count: 1 << partBits)
    /// How many there are.
    private(set) var count = 0

    /// The transaction of a branch; nil for none, which takes it out.
    subscript(branch: Branch) -> ProxyTransaction? {
        get { parts[Self.part(of: branch)][branch] }
        set {
            let part = Self.part(of: branch)
            count -= parts[part].count
            parts[part][branch] = newValue
            count += parts[part].count
        }
    }

    /// By the highest bits, as shards are told apart by the lowest.
    ///
    /// A branch is a keyed hash, so no sender fills one part.
    private static func part(of branch: Branch) -> Int { Int(branch.value >> (64 - partBits)) }
}
