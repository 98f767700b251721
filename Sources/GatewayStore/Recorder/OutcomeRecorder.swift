// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallAccounting
import GRDB
package import Host
package import Logging
import Synchronization

/// Turns the updates of the ring into stored calls and events; the only writer of both.
///
/// Once a second (`storing`) it applies the updates of the ring to the open calls. Calls, events and the position in
/// the ring are written in one transaction, and only then are the slots freed. After a kill at any moment the next
/// process applies exactly the updates whose effect is not in the tables, because the ring outlives the process. A
/// power cut loses the ring, and with it at most one `storing` and one commit. A ring that is a third full is stored
/// before its time.
///
/// When the database refuses, the batch stays in memory, nothing more is taken, and the same batch is tried again. The
/// ring fills meanwhile, and calls go on.
///
/// `drain` and `prune` block on the disk and are called from one thread at a time; `run` calls them from a queue of its
/// own. Everything else is safe from any thread.
package final class OutcomeRecorder: Sendable {
    /// Settings of the operator.
    package struct Settings: Sendable {
        package var vocabulary = EventVocabulary()
        package var returns = ReturnPolicy()
        package var limits = CallStateMachine.Limits()
        /// Configured names of the trunks, by the mark in updates.
        package var trunks: [UInt16: String] = [:]
        /// Configured names of the customers, by the mark in updates.
        package var customers = CustomerNames()
        /// Time between two looks at the ring.
        package var interval: Duration = .milliseconds(100)
        /// Time between two transactions: the delay of rows, and the loss in a power cut.
        ///
        /// A call that changes several times in it is written once, and so is a page that many calls share.
        package var storing: Duration = .seconds(1)
        /// Days after which ended calls and delivered events are deleted.
        ///
        /// Waiting events stay while a directory is configured; refused events always stay.
        package var retentionDays = 90
        /// Bytes of the ledger above which its oldest settled rows are deleted before their time.
        package var maxBytes = 4_294_967_296
        /// Whether a directory is configured; without one, waiting events expire like delivered ones.
        package var hasDirectory = true
        /// Whether gateways share a ledger, which gets what passes here of other gateways' calls.
        package var isShared = false
        /// Outputs of ended calls beside the directory.
        package var outputs: [CallOutputSink] = []

        package init() {}
    }

    /// The result of one transaction.
    package struct DrainResult: Hashable, Sendable {
        package var updates = 0
        /// Calls written.
        package var calls = 0
        /// Events minted.
        package var events = 0
        /// Slots that were half-written or damaged.
        package var skipped = 0
    }

    /// Totals since start, for metrics and health.
    package struct Totals: Hashable, Sendable {
        package var updates = 0
        package var events = 0
        package var skipped = 0
        /// Updates without an open call.
        package var unclaimed = 0
        /// Ended calls that a late report of another gateway has corrected.
        package var corrected = 0
        /// Refusals of the database.
        package var failures = 0
        package var openCalls = 0
        /// Those of them that began before this start or at another gateway, so that no table in memory counts them.
        package var inheritedCalls = 0
        /// The reason why the last round could not be stored; nil normally.
        package var problem: String?
    }

    /// Most updates in one transaction: about a second of 3,000 calls/s.
    package static let mostAtOnce = 16_384

    let database: HeraldDatabase
    private let settingsInForce: Mutex<Settings>
    let log: Logger
    let shared = Mutex(Totals())
    let now: @Sendable () -> Int64
    let ring: UpdateRing
    /// Nil until a ledger was read.
    let journal = Mutex<LedgerJournal?>(nil)
    /// Names by the mark of the trunk.
    let trunks: Mutex<[UInt16: String]>
    /// Names by the mark of the customer.
    let customers: Mutex<CustomerNames>
    /// The signers that verdicts name by their row.
    let signers: CurrentTrust
    let clockSteps: Mutex<ClockStepDetector>
    /// End of the last round, by the monotonic clock.
    private let lastRound = Atomic<Int64>(SteadyClock.microseconds)
    /// The exchange with other gateways; unused by a gateway alone.
    package let cluster = RecorderCluster()
    /// Learns of each transaction.
    let storeListener = Mutex<(@Sendable () -> Void)?>(nil)
    private let unknownCallers = Mutex<(@Sendable (E164Number, String?) -> Void)?>(nil)
    private let endedCalls = Mutex<[@Sendable ([CallRecord]) -> Void]>([])

    /// Loads the open calls and continues the ring after the last stored update; before the first call.
    ///
    /// Without a readable ledger the ring is not read, and the rounds look for a ledger (`takeUp`).
    /// - Parameters:
    ///   - signers: the signers that verdicts name by their row; a call of an unknown row has no provider and no subject.
    ///   - now: microseconds since 1970; a test may have its own clock.
    ///   - clockSteps: detects steps of that clock.
    package init(
        database: HeraldDatabase, ring: UpdateRing, settings: Settings = .init(),
        signers: CurrentTrust = CurrentTrust(), log: Logger = Logger(label: "herald.outcome"),
        now: @escaping @Sendable () -> Int64 = ClockStepDetector.wall, clockSteps: ClockStepDetector = .init()
    ) {
        self.clockSteps = Mutex(clockSteps)
        self.database = database
        self.ring = ring
        settingsInForce = Mutex(settings)
        self.signers = signers
        self.log = log
        self.now = now
        trunks = Mutex(settings.trunks)
        customers = Mutex(settings.customers)
        do {
            try takeUp(isStart: true)
        } catch {
            record(failure: error)
            alarm()
        }
    }

    /// Passes callers that were not in the index to `listener`, with the customer of the call, once it has ended and is
    /// stored.
    ///
    /// The listener runs on the recorder's thread and must not wait. It never gets withheld and uncertain numbers.
    package func onUnknownCaller(_ listener: @escaping @Sendable (E164Number, String?) -> Void) {
        unknownCallers.withLock { $0 = listener }
    }

    /// Passes ended calls to `listener` too once they are stored; listeners run on the recorder's thread and must not
    /// wait.
    package func onEndedCalls(_ listener: @escaping @Sendable ([CallRecord]) -> Void) {
        endedCalls.withLock { $0.append(listener) }
    }

    /// Reports each transaction to `listener` on the recorder's thread; it must not wait.
    package func onStored(_ listener: @escaping @Sendable () -> Void) { storeListener.withLock { $0 = listener } }

    /// The settings in force.
    var settings: Settings { settingsInForce.withLock { $0 } }
    /// Makes the events of the settings in force.
    var minter: EventMinter { EventMinter(vocabulary: settings.vocabulary) }

    /// Takes over other settings from the next round on, after a reload of the configuration.
    ///
    /// Removed trunks and customers keep their names, because they may still have calls. Calls in progress keep their deadline until
    /// their next update.
    package func use(_ settings: Settings) {
        settingsInForce.withLock { $0 = settings }
        trunks.withLock { $0.merge(settings.trunks) { _, new in new } }
        customers.withLock { $0.merge(settings.customers) }
        journal.withLock { $0?.use(settings, minter) }
    }

    /// Totals since start.
    package var totals: Totals { shared.withLock { $0 } }

    /// Updates shed by the ring since its file was made.
    package var shed: UpdateRing.Shed { ring.shed }

    /// The part of the ring that waits to be stored, 0 to 1.
    package var waiting: Double { ring.filling }

    /// Time since the end of the last round, or since the start, by the monotonic clock.
    package var age: Duration { .microseconds(SteadyClock.microseconds - lastRound.load(ordering: .relaxed)) }

    /// Records the end of a round.
    func roundEnded() { lastRound.store(SteadyClock.microseconds, ordering: .relaxed) }

    /// Detects a step of the wall clock between two drains.
    ///
    /// Frequent looks detect a step while few updates of the new clock are in the ring.
    func look() {
        _ = withJournal { journal in
            lookAtClock(&journal)
            journal.cluster?.look(journal) { position, body in
                ring.read(after: position, through: ring.claimed, limit: Self.mostAtOnce) { update, _ in body(update) }
                    .position
            }
        }
    }

    /// Stores calls and events from at most `limit` updates of the ring, in one transaction.
    ///
    /// Closes overdue calls once the ring is read to its end, because a waiting update may be the end of one.
    /// - Throws: a database error, or the reason why there is no ledger. Nothing was stored then, and the ring keeps
    ///   the updates.
    @discardableResult
    package func drain(limit: Int = mostAtOnce) throws -> DrainResult {
        let result = try withJournal { journal in
            let cluster = journal.cluster
            let end = ring.claimed
            let time = lookAtClock(&journal)
            var result = DrainResult()
            if !journal.isRefused {
                cluster?.willRead(into: &journal)
                let taken = take(limit, through: end, into: &journal)
                result.skipped = taken.skipped
                let isRead = journal.clockSteps.isEmpty && taken.updates + taken.skipped < limit
                if isRead || journal.batch.position == end {
                    let mayEnd = try cluster?.haveRead(&journal, of: self, now: time ?? now()) ?? true
                    if let time, mayEnd { journal.sweep(now: time) }
                }
                cluster?.haveApplied(journal)
            }
            if journal.isRefused || journal.hasChanges || result.skipped > 0 {
                result.updates = journal.batch.updates
                result.calls = journal.batch.calls.count
                result.events = journal.batch.events.count
                let added = try store(&journal, now: (time ?? now()) / 1_000_000)
                result.events += Int(added)
                if let report = unknownCallers.withLock({ $0 }) {
                    for unknown in journal.batch.unknownCallers { report(unknown.caller, unknown.customer) }
                }
                let ended = journal.batch.calls.compactMap { call in
                    call.isClosedElsewhere || call.machine.record.endedAt == nil ? nil : call.machine.record
                }
                for report in endedCalls.withLock({ $0 }) { report(ended) }
                journal.stored(addedEvents: added)
                ring.release(through: journal.batch.position)
                if let report = storeListener.withLock({ $0 }) { report() }
            }
            cluster?.end(journal)
            count(result, &journal)
            return result
        }
        guard let result else { throw HeraldDatabaseError(path: database.ledgerFile.path, problem: .missing) }
        return result
    }

    /// Deletes the oldest ended calls and delivered events until the ledger is under its size again.
    ///
    /// - Parameter between: called after each step, so that updates do not wait for the last one; false ends the work.
    /// - Returns: the number of deleted rows, and whether the ledger is above its size with rows that must stay.
    /// - Throws: a database error; rows deleted until then stay deleted.
    @discardableResult
    package func shrink(between: () -> Bool = { true }) throws -> (deleted: Int, isStuck: Bool) {
        let (deleted, isStuck) = try withoutActuallyEscaping(between) { between in
            try retention(between).shrink(below: settings.maxBytes)
        }
        if deleted > 0 {
            log.warning(
                "the ledger has reached outcomes.max_size; its oldest rows were deleted before their time",
                metadata: ["rows": "\(deleted)"])
        }
        return (deleted, isStuck)
    }

    /// Deletes ended calls and delivered events older than the retention, in small steps.
    ///
    /// - Parameter between: called after each step, so that updates do not wait for the last one; false ends the work.
    /// - Returns: the number of deleted rows.
    /// - Throws: a database error; rows deleted until then stay deleted.
    @discardableResult
    package func prune(between: () -> Bool = { true }) throws -> Int {
        let now = now()
        let before = now - Int64(settings.retentionDays) * 86_400_000_000
        return try withoutActuallyEscaping(between) { between in
            try retention(between).prune(before: before, now: now)
        }
    }

    /// True if the wall clock has had no step for this time.
    func clockHasStood(for time: Duration) -> Bool { clockSteps.withLock { $0.hasStood(for: time) } }

    // MARK: Parts

    /// Compares the wall clock with the monotonic clock, and shifts calls in progress by a step.
    ///
    /// - Returns: the time of the look, in microseconds since 1970; nil if the reading took too long to count.
    @discardableResult
    private func lookAtClock(_ journal: inout LedgerJournal) -> Int64? {
        // Read before the clock: updates up to here have the time of the clock that this look finds, or of an older
        // one.
        let written = ring.claimed
        guard let reading = clockSteps.withLock({ $0.read(now) }) else { return nil }
        if let step = reading.step {
            journal.clockWasSet(
                ClockStep(
                    microseconds: step, noticedAt: reading.time, lastOld: journal.lookedAt, position: ring.claimed))
            log.notice(
                "the clock was set; times of calls in progress move by the same amount",
                metadata: ["seconds": "\(step / 1_000_000)"])
        }
        journal.lookedAt = written
        return reading.time
    }

    /// Works on the journal; nil without one.
    private func withJournal<Value: Sendable, Failure: Error>(
        _ work: (inout LedgerJournal) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        try journal.withLock { taken throws(Failure) in
            guard var journal = taken.take() else { return nil }
            defer { taken = journal }
            cluster.begin(&journal, isShared: settings.isShared)
            return try work(&journal)
        }
    }

    private func retention(_ between: @escaping () -> Bool) throws -> LedgerRetention {
        LedgerRetention(
            database: try database.ledger, ringID: ring.ringID, outputs: settings.outputs,
            hasDirectory: settings.hasDirectory, between: between)
    }

    /// Applies updates of the ring to the open calls.
    ///
    /// - Parameter end: position of the ring before the clock was read; later updates may have another clock.
    /// - Returns: the numbers of applied updates and of skipped slots.
    private func take(
        _ limit: Int, through end: UInt64, into journal: inout LedgerJournal
    ) -> (updates: Int, skipped: Int) {
        let before = journal.batch.updates
        var skipped = 0
        while true {
            let start = journal.batch.position
            let taken = journal.batch.updates - before
            // Updates of an earlier run are read apart from those of this one.
            let left = start < journal.inheritedEnd ? journal.inheritedEnd : .max
            let boundary = min(journal.clockSteps.map { $0.boundary(after: start) }.min() ?? .max, left)
            let (position, passed) = ring.read(
                after: start, through: min(boundary, end), limit: limit - taken - skipped
            ) { update, texts in
                journal.apply(update, texts: texts)
            }
            journal.reached(position)
            skipped += passed
            // Only a step of the clock and the end of the earlier run divide the read.
            guard position == boundary, position < end else { return (journal.batch.updates - before, skipped) }
        }
    }

    /// Writes the batch; after a refusal the journal takes no update until the batch is stored.
    private func store(_ journal: inout LedgerJournal, now: Int64) throws -> Int64 {
        do {
            let (settings, minter) = (settings, minter)
            return try database.ledger.write { [journal] database in
                let writer = LedgerWriter(
                    database, minter: minter, returns: settings.returns, outputs: settings.outputs, now: now)
                return try writer.store(
                    journal.batch, journal.cluster, ringID: ring.ringID, firstFreeEvent: journal.nextEvent)
            }
        } catch {
            journal.refused()
            countOpen(&journal)
            throw error
        }
    }

    /// Publishes the number of open calls.
    func countOpen(_ journal: inout LedgerJournal) {
        let (open, inherited) = (journal.open.count, journal.countInherited())
        shared.withLock { ($0.openCalls, $0.inheritedCalls) = (open, inherited) }
    }

    private func count(_ result: DrainResult, _ journal: inout LedgerJournal) {
        countOpen(&journal)
        if result.skipped > 0 {
            log.warning(
                "half-written or damaged updates are skipped", metadata: ["count": "\(result.skipped)"])
        }
        shared.withLock { totals in
            totals.updates += result.updates
            totals.events += result.events
            totals.skipped += result.skipped
            totals.unclaimed = journal.unclaimed
        }
    }
}
