// SPDX-License-Identifier: Apache-2.0

package import CallAccounting

/// An update as the recorder reports it to the siblings of the gateway.
package struct ReportedUpdate: Hashable, Sendable {
    package let update: CallUpdate
    /// Whether the call is open in this gateway's ledger; the INVITE of any other call passed a sibling.
    package let isOwn: Bool

    package init(update: CallUpdate, isOwn: Bool) {
        self.update = update
        self.isOwn = isOwn
    }
}

/// An update that another gateway has seen.
///
/// It comes by datagram within a second, and through the shared ledger some seconds later. Only the first copy counts.
package struct ForeignUpdate: Hashable, Sendable {
    /// The update, with its time by the clock of this gateway.
    package let update: CallUpdate
    /// The same for all copies, within one process.
    package let identity: Int

    /// Moves an update to the clock of this gateway; its age does not depend on whose clock is right.
    ///
    /// - Parameters:
    ///   - reported: the update with its time by the other gateway's clock.
    ///   - age: microseconds since then.
    ///   - now: microseconds since 1970.
    package init(_ reported: CallUpdate, age: Int64, now: Int64) {
        var update = reported
        update.wallMicroseconds = max(0, now - max(0, age))
        (self.update, identity) = (update, reported.hashValue)
    }

    /// An update with its time by the clock of this gateway.
    package init(seenHere update: CallUpdate) { (self.update, identity) = (update, update.hashValue) }
}

/// The ledger as siblings see it; the recorder plays this role.
///
/// Any thread; never on the call path.
package protocol SiblingLedger: Sendable {
    /// Queues updates that a sibling has seen; they change calls that are open here, and correct calls that have ended.
    ///
    /// - Returns: the number of the batch; nil while the queue is full.
    func take(_ updates: [ForeignUpdate]) -> UInt64?
    /// The number of the last batch whose effect is stored.
    var storedBatch: UInt64 { get }
}
