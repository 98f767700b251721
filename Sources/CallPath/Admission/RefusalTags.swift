// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// The To tags of the latest refusals of a flood, by which a worker knows their ACKs at a glance.
///
/// A third of what a refusal costs was reading its ACK. A tag that has been overwritten is found again by reckoning
/// (`OwnAnswer.isAcknowledged`). One worker owns it.
struct RefusalTags {
    /// Refusals kept: a quarter of a second of the most a core has sent, 60,000 a second (docs/performance/log.md).
    private static let capacity = 1 << 14
    private var tags: [UInt64] = []
    /// The branches of the INVITEs that were refused, each at its tag's place.
    private var branches: [UInt64] = []

    /// Keeps the tag of a refusal, and which INVITE was refused.
    mutating func note(_ tag: UInt64, of branch: Branch) {
        if tags.isEmpty {
            tags = Array(repeating: 0, count: Self.capacity)
            branches = tags
        }
        (tags[Self.place(of: tag)], branches[Self.place(of: tag)]) = (tag, branch.value)
    }

    /// Whether the tag was kept; it is not any more then, for the transaction of a later try may answer with the same.
    mutating func takes(_ tag: UInt64) -> Bool {
        guard isKept(tag) else { return false }
        tags[Self.place(of: tag)] = 0
        return true
    }

    /// The INVITE that was refused with a tag no ACK has taken; one with another branch is another try.
    func refused(with tag: UInt64) -> Branch? {
        isKept(tag) ? Branch(token: branches[Self.place(of: tag)]) : nil
    }

    private func isKept(_ tag: UInt64) -> Bool { !tags.isEmpty && tag != 0 && tags[Self.place(of: tag)] == tag }

    /// True before the first refusal.
    var isEmpty: Bool { tags.isEmpty }

    private static func place(of tag: UInt64) -> Int { Int(truncatingIfNeeded: tag) & (capacity - 1) }
}
