// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// The To tags of the latest shed calls, by which a worker knows their ACKs before it indexes them.
///
/// Indexing its ACK is a third of the cost of a shed call. `OwnResponse.isAcknowledged` recognises the ACK of a tag that
/// was overwritten. One worker owns it.
struct RefusalTags {
    /// Tags kept: a quarter of a second of 60,000 shed calls a second, the most a core has sent.
    private static let capacity = 1 << 14
    private var tags: [UInt64] = []
    /// The branches of the shed INVITEs, each at the place of its tag.
    private var branches: [UInt64] = []

    /// Keeps the tag and the branch of a shed INVITE.
    mutating func record(_ tag: UInt64, of branch: Branch) {
        if tags.isEmpty {
            tags = Array(repeating: 0, count: Self.capacity)
            branches = tags
        }
        (tags[Self.place(of: tag)], branches[Self.place(of: tag)]) = (tag, branch.value)
    }

    /// Whether the tag was kept; it is forgotten now, since the transaction of a later try may respond with the same.
    mutating func takes(_ tag: UInt64) -> Bool {
        guard isKept(tag) else { return false }
        tags[Self.place(of: tag)] = 0
        return true
    }

    /// The branch of the INVITE that was shed with a tag and has no ACK yet; another try has another branch.
    func refused(with tag: UInt64) -> Branch? {
        isKept(tag) ? Branch(token: branches[Self.place(of: tag)]) : nil
    }

    private func isKept(_ tag: UInt64) -> Bool { !tags.isEmpty && tag != 0 && tags[Self.place(of: tag)] == tag }

    /// True before the first shed call.
    var isEmpty: Bool { tags.isEmpty }

    private static func place(of tag: UInt64) -> Int { Int(truncatingIfNeeded: tag) & (capacity - 1) }
}
