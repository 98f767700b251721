// SPDX-License-Identifier: Apache-2.0

package import CallAccounting

/// The exchange with one sibling, without a socket and without a clock.
///
/// One datagram with updates is on its way at a time; it is sent again until the sibling has accepted it. It is kept until
/// the sibling has stored its effect, and is sent once more to the next process if the sibling restarts before. Updates
/// are facts that change nothing when they are repeated.
///
/// A datagram counts only if it names the receiver's run. A run that another has replaced, and a sequence that was accepted
/// before, are repetitions of an earlier datagram and change nothing.
package struct SiblingLink: Sendable {
    /// Time now: milliseconds of the monotonic clock, and microseconds since 1970.
    package struct Now: Sendable {
        package var milliseconds: Int64
        package var wallMicroseconds: Int64

        package init(milliseconds: Int64, wallMicroseconds: Int64) {
            self.milliseconds = milliseconds
            self.wallMicroseconds = wallMicroseconds
        }
    }

    private static let greetings: Int64 = 1_000
    private static let repetitions: ClosedRange<Int64> = 250...2_000
    /// Silence after which the sibling counts as unreachable.
    package static let silence: Int64 = 5_000
    /// Most datagrams that the sibling has not stored yet.
    private static let mostUnstored = 4_096
    /// Replaced runs that are remembered.
    private static let mostReplaced = 64

    private let run: UInt64
    private var peerRun: UInt64 = 0
    private var replaced: [UInt64] = []

    private var queue = SiblingQueue()
    private var packets: [(sequence: UInt64, updates: [CallUpdate])] = []
    /// The packets at the front that the sibling's present run has accepted.
    private var accepted = 0
    private var nextSequence: UInt64 = 1
    private var sentAt: Int64?
    private var repetition = repetitions.lowerBound
    private var isInFlight = false

    private var highest: UInt64 = 0
    private var unstored: [(sequence: UInt64, batch: UInt64)] = []
    private var storedSequence: UInt64 = 0

    private(set) var receivedAt: Int64?
    private(set) var unverifiedAt: Int64?
    /// The sibling's clock less this one's, in microseconds; nil before the first datagram.
    private(set) var clockOffset: Int64?
    private(set) var counts = Counts()

    /// Updates since the start.
    package struct Counts: Hashable, Sendable {
        package var sent: UInt64 = 0
        package var received: UInt64 = 0
        package var rejected: UInt64 = 0
    }

    /// - Parameter run: a random number of this process, not 0.
    package init(run: UInt64) { self.run = run }

    /// Updates that the sibling has not stored yet.
    package var waiting: Int { queue.count + packets.reduce(0) { $0 + $1.updates.count } }
    /// Updates that were dropped because the sibling was away for too long.
    package var dropped: UInt64 { queue.dropped }
    /// True when nothing is left to send.
    package var isIdle: Bool { queue.count == 0 && accepted == packets.count }

    /// Queues updates for the sibling.
    package mutating func append(_ updates: [ReportedUpdate]) { queue.append(updates) }

    /// Records a datagram of the sibling's address whose seal is wrong.
    package mutating func receivedUnverified(at now: Now) {
        unverifiedAt = now.milliseconds
        counts.rejected += 1
    }

    /// Handles a verified datagram of the sibling.
    ///
    /// - Returns: the response; nil where none is wanted.
    package mutating func receive(
        _ datagram: SiblingDatagram, at now: Now, into ledger: some SiblingLedger
    ) -> SiblingDatagram? {
        guard datagram.fromRun != run, datagram.fromRun != 0, !replaced.contains(datagram.fromRun) else {
            counts.rejected += 1
            return nil
        }
        if datagram.toRun == run {
            receivedAt = now.milliseconds
            clockOffset = datagram.sentAt - now.wallMicroseconds
            if datagram.fromRun != peerRun { begin(datagram.fromRun) }
            settle(datagram)
            if datagram.kind == .report { accept(datagram, at: now, into: ledger) }
        }
        guard datagram.kind == .report else { return nil }
        storeAdvanced(to: ledger.storedBatch)
        var response = datagram.response(by: run, at: now)
        if datagram.fromRun == peerRun { (response.received, response.stored) = (highest, storedSequence) }
        return response
    }

    /// The datagram that is due; nil while nothing is.
    package mutating func due(at now: Now) -> SiblingDatagram? {
        if peerRun != 0, !isInFlight || elapsed(now) >= repetition, let packet = nextPacket() {
            if isInFlight { repetition = min(repetition * 2, Self.repetitions.upperBound) }
            isInFlight = true
            sentAt = now.milliseconds
            var datagram = SiblingDatagram(
                kind: .report, fromRun: run, toRun: peerRun, sentAt: now.wallMicroseconds)
            (datagram.sequence, datagram.updates) = (packet.sequence, packet.updates)
            return datagram
        }
        // A datagram on its way has an interval of its own. Its response serves as one to a greeting.
        guard !isInFlight, elapsed(now) >= Self.greetings else { return nil }
        sentAt = now.milliseconds
        return SiblingDatagram(kind: .report, fromRun: run, toRun: peerRun, sentAt: now.wallMicroseconds)
    }

    private func elapsed(_ now: Now) -> Int64 { sentAt.map { now.milliseconds - $0 } ?? .max }

    /// The first packet that the sibling has not accepted, made of waiting updates if there is none.
    private mutating func nextPacket() -> (sequence: UInt64, updates: [CallUpdate])? {
        if accepted < packets.count { return packets[accepted] }
        guard packets.count < Self.mostUnstored else { return nil }
        let updates = queue.take(SiblingDatagram.mostUpdates)
        guard !updates.isEmpty else { return nil }
        packets.append((nextSequence, updates))
        nextSequence += 1
        counts.sent += UInt64(updates.count)
        return packets.last
    }

    /// Begins with another process of the sibling: all that the one before did not store is sent again.
    private mutating func begin(_ other: UInt64) {
        if peerRun != 0 {
            replaced.append(peerRun)
            if replaced.count > Self.mostReplaced { replaced.removeFirst() }
        }
        peerRun = other
        accepted = 0
        isInFlight = false
        repetition = Self.repetitions.lowerBound
        (highest, storedSequence, unstored) = (0, 0, [])
    }

    /// Removes what the sibling has stored, and goes on behind what it has accepted.
    private mutating func settle(_ datagram: SiblingDatagram) {
        while let first = packets.first, first.sequence <= datagram.stored {
            packets.removeFirst()
            accepted = max(0, accepted - 1)
        }
        while accepted < packets.count, packets[accepted].sequence <= datagram.received {
            accepted += 1
            isInFlight = false
            repetition = Self.repetitions.lowerBound
        }
        if accepted == packets.count { isInFlight = false }
    }

    /// Takes the updates of a datagram, with times by this gateway's clock.
    private mutating func accept(_ datagram: SiblingDatagram, at now: Now, into ledger: some SiblingLedger) {
        guard !datagram.updates.isEmpty, datagram.sequence > highest else { return }
        let updates = datagram.updates.map { update in
            ForeignUpdate(update, age: datagram.sentAt - update.wallMicroseconds, now: now.wallMicroseconds)
        }
        guard let batch = ledger.take(updates) else { return }
        highest = datagram.sequence
        unstored.append((datagram.sequence, batch))
        counts.received += UInt64(updates.count)
    }

    private mutating func storeAdvanced(to batch: UInt64) {
        while let first = unstored.first, first.batch <= batch {
            storedSequence = first.sequence
            unstored.removeFirst()
        }
    }
}

extension SiblingDatagram {
    /// A response by a run that has accepted nothing.
    func response(by run: UInt64, at now: SiblingLink.Now) -> SiblingDatagram {
        SiblingDatagram(kind: .response, fromRun: run, toRun: fromRun, sentAt: now.wallMicroseconds)
    }
}
