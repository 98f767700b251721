// SPDX-License-Identifier: Apache-2.0

package import CallAccounting

extension LedgerCallRow {
    /// The story of the call.
    ///
    /// A row that no gateway wrote has its begin alone.
    package var story: CallStory {
        let unknown = CallRecord(
            call: CallIdentifier(high: 0, low: 0), direction: direction == "inbound" ? .inbound : .outbound,
            inviteAt: inviteAt)
        return CallStory(record ?? unknown, returnedAt: returnedAt, isContinued: continuedAs != nil)
    }

    /// The messages of the call, as far as the ledger keeps them.
    package var ladder: CallLadder { CallLadder(story) }
}
