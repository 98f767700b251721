// SPDX-License-Identifier: Apache-2.0

import CallAccounting
package import GatewayStore

/// The exchange with one sibling, without a socket and without a clock.
///
/// Datagrams with updates are sent again until the sibling has accepted them. They are kept until the sibling has stored their
/// effect, and are sent once more to the next process if the sibling restarts before. Updates are facts that change nothing
/// when they are repeated.
///
/// A process of the sibling becomes known by its response to a report of this one, and only such a response shows that it
/// lives and what its clock is. Its reports count if they name both runs. So a recorded datagram changes nothing.
///
/// A sibling of version 0.2 sends datagrams without numbers. They count until the sibling has sent a numbered response.
package struct SiblingLink: Sendable {
    /// Time now, in microseconds: of the monotonic clock, and since 1970.
    package struct Now: Sendable {
        package var microseconds: Int64
        package var wallMicroseconds: Int64

        package init(microseconds: Int64, wallMicroseconds: Int64) {
            self.microseconds = microseconds
            self.wallMicroseconds = wallMicroseconds
        }

        /// Milliseconds of the monotonic clock.
        package var milliseconds: Int64 { microseconds / 1_000 }
    }

    private static let greetings: Int64 = 1_000
    /// Silence after which the sibling counts as unreachable, in milliseconds.
    package static let silence: Int64 = 5_000
    /// Replaced runs that are remembered, of a sibling without numbers.
    private static let mostReplaced = 64

    private let run: UInt64
    private let place: UInt64
    private var peerRun: UInt64 = 0
    private var replaced: [UInt64] = []
    /// The form of the sibling's datagrams; nil before the first one.
    private var form: SiblingDatagram.Form?
    private var sentAt: Int64?
    /// Whether the sibling has a process that has not responded yet.
    private var isGreetingDue = false

    private var pulse = SiblingPulse()
    private var sending = SiblingSending()
    private var receiving = SiblingReceiving()
    private var received = Counts()
    private var unnumbered: (receivedAt: Int64?, clockOffset: Int64?) = (nil, nil)

    private(set) var unverifiedAt: Int64?

    /// Updates since the start.
    package struct Counts: Hashable, Sendable {
        package var sent: UInt64 = 0
        package var received: UInt64 = 0
        /// Received updates of a later version, which were left out.
        package var unknown: UInt64 = 0
        /// Updates of other gateways' calls that were dropped because the sibling was away for too long.
        package var dropped: UInt64 = 0
        /// Updates of this gateway's calls that were dropped for the same reason.
        package var droppedOwn: UInt64 = 0
        /// Datagrams with a wrong seal, of an earlier run, or without a report of this run.
        package var rejected: UInt64 = 0
    }

    /// - Parameters:
    ///   - run: a random number of this process, not 0.
    ///   - place: the sibling's address, by `SiblingDatagram.place(_:)`.
    package init(run: UInt64, to place: UInt64 = 0) { (self.run, self.place) = (run, place) }

    /// Updates that the sibling has not stored yet.
    package var waiting: Int { sending.waiting }
    /// True when nothing is left to send.
    package var isIdle: Bool { sending.isIdle }
    /// Updates and datagrams since the start.
    package var counts: Counts {
        var counts = received
        (counts.sent, counts.dropped, counts.droppedOwn) = (sending.sent, sending.dropped, sending.droppedOwn)
        return counts
    }
    /// The last time at which the sibling is known to have lived, in milliseconds of the monotonic clock.
    package var livedAt: Int64? { form == .unnumbered ? unnumbered.receivedAt : pulse.livedAt }
    /// The sibling's clock less this one's, in microseconds; nil before the first response.
    package var clockOffset: Int64? { form == .unnumbered ? unnumbered.clockOffset : pulse.clockOffset }

    /// Queues updates for the sibling.
    package mutating func append(_ updates: [ReportedUpdate]) { sending.append(updates) }

    /// Records a datagram of the sibling's address whose seal is wrong.
    package mutating func receivedUnverified(at now: Now) {
        unverifiedAt = now.milliseconds
        received.rejected += 1
    }

    /// Records a verified datagram that was sent to another address.
    package mutating func receivedMisdirected() { received.rejected += 1 }

    /// Handles a verified datagram of the sibling.
    ///
    /// - Returns: the response; nil where none is wanted.
    package mutating func receive(
        _ datagram: SiblingDatagram, at now: Now, into ledger: some SiblingLedger
    ) -> SiblingDatagram? {
        let isAccepted =
            switch (datagram.form, datagram.kind) {
            case _ where datagram.fromRun == run || datagram.fromRun == 0: false
            case (.numbered, .response): receive(response: datagram, at: now)
            case (.numbered, .report): receive(report: datagram, at: now, into: ledger)
            case (.unnumbered, _): receive(unnumbered: datagram, at: now, into: ledger)
            }
        guard isAccepted else {
            received.rejected += 1
            return nil
        }
        receiving.pass(to: ledger)
        guard datagram.kind == .report else { return nil }
        var response = datagram.response(by: run, at: now)
        if datagram.fromRun == peerRun {
            (response.received, response.stored) = (receiving.received, receiving.stored)
            response.ahead = receiving.ahead
        }
        return response
    }

    private mutating func receive(response: SiblingDatagram, at now: Now) -> Bool {
        guard response.toRun == run, let exchange = pulse.exchange(of: response, at: now) else { return false }
        if response.fromRun != peerRun {
            // A late response of the process before.
            guard exchange.isNewest else { return false }
            begin(response.fromRun)
        }
        form = .numbered
        pulse.measure(response, exchange, at: now)
        sending.measure(roundTrip: (now.microseconds - exchange.sentAt) / 1_000)
        sending.settle(response)
        return true
    }

    private mutating func receive(report: SiblingDatagram, at now: Now, into ledger: some SiblingLedger) -> Bool {
        guard report.fromRun == peerRun, form == .numbered else {
            isGreetingDue = true
            return true
        }
        guard report.toRun == run, report.sequence > 0 else { return true }
        let updates = foreign(report, delay: pulse.delay(of: report, at: now), at: now)
        if receiving.accept(report.sequence, first: report.first, updates, into: ledger) { count(report) }
        return true
    }

    private mutating func receive(unnumbered datagram: SiblingDatagram, at now: Now, into ledger: some SiblingLedger)
        -> Bool
    {
        guard form != .numbered, !replaced.contains(datagram.fromRun) else { return false }
        form = .unnumbered
        guard datagram.toRun == run else { return true }
        unnumbered = (now.milliseconds, datagram.sentAt - now.wallMicroseconds)
        if datagram.fromRun != peerRun { begin(datagram.fromRun) }
        sending.settle(datagram)
        guard datagram.kind == .report, datagram.sequence > 0 else { return true }
        if receiving.accept(datagram.sequence, foreign(datagram, delay: 0, at: now), into: ledger) { count(datagram) }
        return true
    }

    /// The updates of a report, with times by this gateway's clock.
    private func foreign(_ report: SiblingDatagram, delay: Int64, at now: Now) -> [ForeignUpdate] {
        report.updates.map { update in
            ForeignUpdate(
                update, age: max(0, report.sentAt - update.wallMicroseconds) + delay, now: now.wallMicroseconds)
        }
    }

    private mutating func count(_ report: SiblingDatagram) {
        received.received += UInt64(report.updates.count)
        received.unknown += UInt64(report.unknown)
    }

    /// The datagrams that are due.
    package mutating func due(at now: Now) -> [SiblingDatagram] {
        var due: [SiblingDatagram] = []
        if peerRun != 0, let form {
            let most = form == .numbered ? SiblingSending.mostInFlight : 1
            for packet in sending.due(at: now.milliseconds, most: most) {
                var datagram = report(form, at: now)
                (datagram.sequence, datagram.updates) = (packet.sequence, packet.updates)
                datagram.first = sending.first
                due.append(datagram)
            }
        }
        // The response to updates serves as one to a greeting.
        let elapsed = sentAt.map { now.milliseconds - $0 } ?? .max
        if due.isEmpty, isGreetingDue || elapsed >= Self.greetings {
            due.append(report(.numbered, at: now))
            if form == .unnumbered { due.append(report(.unnumbered, at: now)) }
        }
        if !due.isEmpty { (sentAt, isGreetingDue) = (now.milliseconds, false) }
        return due
    }

    private mutating func report(_ form: SiblingDatagram.Form, at now: Now) -> SiblingDatagram {
        var report = SiblingDatagram(kind: .report, fromRun: run, toRun: peerRun, sentAt: now.wallMicroseconds)
        report.form = form
        guard form == .numbered else { return report }
        (report.steadyAt, report.receiver) = (now.microseconds, place)
        report.number = pulse.number(at: now)
        return report
    }

    /// Begins with another process of the sibling.
    private mutating func begin(_ other: UInt64) {
        if peerRun != 0 {
            replaced.append(peerRun)
            if replaced.count > Self.mostReplaced { replaced.removeFirst() }
        }
        peerRun = other
        pulse.begin()
        sending.begin()
        receiving = SiblingReceiving()
    }
}

extension SiblingDatagram {
    /// A response by a run that has accepted nothing, in the form of the report.
    func response(by run: UInt64, at now: SiblingLink.Now) -> SiblingDatagram {
        var response = SiblingDatagram(
            kind: .response, fromRun: run, toRun: fromRun, sentAt: now.wallMicroseconds)
        (response.form, response.number, response.steadyAt) = (form, number, now.microseconds)
        return response
    }
}
