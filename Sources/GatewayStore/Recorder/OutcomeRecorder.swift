// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallAccounting
import GRDB
package import HostSystem
package import Logging
import Synchronization

/// Turns the signals of the ring into stored calls and events; the only writer of both.
///
/// Once a second (`storing`) it applies the signals of the ring to the open calls. Calls, events and the position in the
/// ring are written in one transaction, and only then are the slots freed. After a kill at any moment the next process
/// applies exactly the signals whose effect is not in the tables, because the ring outlives the process. A power cut loses
/// the ring, and with it at most one `storing` and one commit. A ring that is a third full is stored before its time.
///
/// When the database refuses, the batch stays in memory, nothing more is taken, and the same batch is tried again. The
/// ring fills meanwhile, and calls go on.
///
/// `drain` and `prune` block on the disk and are called from one thread at a time; `run` calls them from a queue of its
/// own. Everything else is safe from any thread.
package final class OutcomeRecorder: Sendable {
    /// What the outcome side may be told by the operator.
    package struct Settings: Sendable {
        package var vocabulary = EventVocabulary()
        package var returns = ReturnPolicy()
        package var limits = OutcomeMachine.Limits()
        /// Configured names of the trunks, by the mark signals carry.
        package var trunks: [UInt16: String] = [:]
        /// Time between two looks at the ring.
        package var interval: Duration = .milliseconds(100)
        /// Time between two transactions: how late rows appear, and how much a power cut costs.
        ///
        /// A call that changes several times in it is written once, and so is a page that many calls share.
        package var storing: Duration = .seconds(1)
        /// Days after which ended calls and delivered events go; waiting ones never do while there is a directory, refused ones
        /// never.
        package var retentionDays = 90
        /// Bytes of the ledger above which its oldest rows go before their time, but those that must stay.
        package var maxBytes = 4_294_967_296
        /// Whether there is a directory to take events; without one they go as delivered ones do.
        package var hasDirectory = true
        /// Where ended calls go beside the directory.
        package var outputs: [CallOutputSink] = []

        package init() {}
    }

    /// What was stored at once.
    package struct DrainResult: Hashable, Sendable {
        package var signals = 0
        /// Calls written.
        package var calls = 0
        /// Events minted.
        package var events = 0
        /// Slots that were half-written or damaged.
        package var skipped = 0
    }

    /// Totals since start, for metrics and health.
    package struct Totals: Hashable, Sendable {
        package var signals = 0
        package var events = 0
        package var skipped = 0
        /// Signals that belonged to no open call.
        package var unclaimed = 0
        /// Times the database refused.
        package var failures = 0
        package var openCalls = 0
        /// Why the last round could not be stored; nil while all is well.
        package var problem: String?
    }

    /// Signals in one transaction at the most: about a second of 3,000 calls/s.
    package static let mostAtOnce = 16_384

    let database: HeraldDatabase
    let settings: Settings
    let log: Logger
    let shared = Mutex(Totals())
    let now: @Sendable () -> Int64
    let ring: SignalRing
    let minter: EventMinter
    /// Nil until there is a ledger that could be read.
    let journal = Mutex<LedgerJournal?>(nil)
    /// Names by the mark of the trunk.
    let trunks: Mutex<[UInt16: String]>
    let clockSteps: Mutex<WallClockSteps>
    /// When the last round ended, by the monotonic clock.
    private let lastRound = Atomic<Int64>(SteadyClock.microseconds)
    private let unknownCallers = Mutex<(@Sendable (E164Number) -> Void)?>(nil)
    private let endedCalls = Mutex<(@Sendable ([CallRecord]) -> Void)?>(nil)

    /// Loads the calls that were open and continues the ring after the last signal stored; before calls are taken.
    ///
    /// Without a ledger that can be read nothing is taken from the ring, and each round looks for one (`takeUp`).
    /// - Parameters:
    ///   - now: microseconds since 1970; the wall clock unless a test has its own.
    ///   - clockSteps: tells when that clock was set.
    package init(
        database: HeraldDatabase, ring: SignalRing, settings: Settings = .init(),
        log: Logger = Logger(label: "herald.outcome"),
        now: @escaping @Sendable () -> Int64 = WallClockSteps.wall, clockSteps: WallClockSteps = .init()
    ) {
        self.clockSteps = Mutex(clockSteps)
        self.database = database
        self.ring = ring
        self.settings = settings
        self.log = log
        self.now = now
        trunks = Mutex(settings.trunks)
        minter = EventMinter(vocabulary: settings.vocabulary)
        do {
            try takeUp(isStart: true)
        } catch {
            note(failure: error)
            alarm()
        }
    }

    /// Tells `listener` who called and was not in the index, once the call has ended and is stored.
    ///
    /// Called on the recorder's queue, which must not wait. Withheld and uncertain numbers are never told.
    package func onUnknownCaller(_ listener: @escaping @Sendable (E164Number) -> Void) {
        unknownCallers.withLock { $0 = listener }
    }

    /// Tells `listener` the calls that have ended, once that is stored; on the recorder's thread, which must not wait.
    package func onEndedCalls(_ listener: @escaping @Sendable ([CallRecord]) -> Void) {
        endedCalls.withLock { $0 = listener }
    }

    /// Learns the names of the trunks anew, after a reload of the configuration.
    ///
    /// Those that are configured no more keep theirs: they may still have calls.
    package func setTrunks(_ trunks: [UInt16: String]) {
        self.trunks.withLock { $0.merge(trunks) { _, new in new } }
        journal.withLock { $0?.trunks.merge(trunks) { _, new in new } }
    }

    /// Totals since start.
    package var totals: Totals { shared.withLock { $0 } }

    /// Signals shed by the full ring since its file was made.
    package var shed: SignalRing.Shed { ring.shed }

    /// The part of the ring that waits to be kept or stored, 0 to 1.
    package var waiting: Double { ring.filling }

    /// Time since the last round ended, or since the start; the wall clock has no part in it.
    package var age: Duration { .microseconds(SteadyClock.microseconds - lastRound.load(ordering: .relaxed)) }

    /// Notes that a round has ended.
    func roundEnded() { lastRound.store(SteadyClock.microseconds, ordering: .relaxed) }

    /// Looks whether the wall clock was set, between two drains.
    ///
    /// A step is noticed while few signals of the new clock are in the ring.
    func lookAtClock() { _ = withJournal { lookAtClock(&$0) } }

    /// Stores calls and events from the signals in the ring, at most `limit` of them, in one transaction.
    ///
    /// Closes overdue calls once the ring is read to its end, because a waiting signal may be the end of one.
    /// - Throws: a database error, or why there is no ledger. Nothing was stored then, and the ring keeps the signals.
    @discardableResult
    package func drain(limit: Int = mostAtOnce) throws -> DrainResult {
        let result = try withJournal { journal in
            let end = ring.claimed
            let time = lookAtClock(&journal)
            var result = DrainResult()
            if !journal.isRefused {
                let taken = take(limit, through: end, into: &journal)
                result.skipped = taken.skipped
                let isRead = journal.clockSteps.isEmpty && taken.signals + taken.skipped < limit
                if isRead || journal.batch.position == end, let time { journal.sweep(now: time) }
            }
            if journal.isRefused || !journal.batch.isEmpty || result.skipped > 0 {
                result.signals = journal.batch.signals
                result.calls = journal.batch.calls.count
                result.events = journal.batch.events.count
                let added = try store(&journal, now: (time ?? now()) / 1_000_000)
                result.events += Int(added)
                if let tell = unknownCallers.withLock({ $0 }) { journal.batch.unknownCallers.forEach(tell) }
                if let tell = endedCalls.withLock({ $0 }) {
                    tell(journal.batch.calls.map(\.machine.record).filter { $0.endedAt != nil })
                }
                journal.stored(addedEvents: added)
                ring.release(through: journal.batch.position)
            }
            count(result, journal)
            return result
        }
        guard let result else { throw HeraldDatabaseError(path: database.ledgerFile.path, problem: .missing) }
        return result
    }

    /// Deletes the oldest ended calls and delivered events until the ledger is under its size again.
    ///
    /// - Parameter between: called after each step, so that signals need not wait for the last; false ends it.
    /// - Returns: how many rows went, and whether the ledger is above its size with rows that must stay.
    /// - Throws: a database error; what was deleted until then stays deleted.
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
    /// - Parameter between: called after each step, so that signals need not wait for the last; false ends it.
    /// - Returns: how many rows went.
    /// - Throws: a database error; what was deleted until then stays deleted.
    @discardableResult
    package func prune(between: () -> Bool = { true }) throws -> Int {
        let now = now()
        let before = now - Int64(settings.retentionDays) * 86_400_000_000
        return try withoutActuallyEscaping(between) { between in
            try retention(between).prune(before: before, now: now)
        }
    }

    /// True where nobody has set the wall clock for so long.
    func clockHasStood(for time: Duration) -> Bool { clockSteps.withLock { $0.hasStood(for: time) } }

    // MARK: Parts

    /// Works on the journal; nil where there is none yet.
    private func withJournal<Value: Sendable, Failure: Error>(
        _ work: (inout LedgerJournal) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        try journal.withLock { taken throws(Failure) in
            guard var journal = taken.take() else { return nil }
            defer { taken = journal }
            return try work(&journal)
        }
    }

    private func retention(_ between: @escaping () -> Bool) throws -> LedgerRetention {
        LedgerRetention(
            database: try database.ledger, ringID: ring.ringID, outputs: settings.outputs,
            hasDirectory: settings.hasDirectory, between: between)
    }

    /// Applies signals of the ring to the open calls.
    ///
    /// - Parameter end: position of the ring before the clock was read; later signals may have the time of another clock.
    /// - Returns: how many signals were applied, and how many slots were skipped.
    private func take(
        _ limit: Int, through end: UInt64, into journal: inout LedgerJournal
    ) -> (signals: Int, skipped: Int) {
        let before = journal.batch.signals
        var skipped = 0
        while true {
            let start = journal.batch.position
            let taken = journal.batch.signals - before
            let boundary = journal.clockSteps.map { $0.boundary(after: start) }.min() ?? .max
            let (position, passed) = ring.read(
                after: start, through: min(boundary, end), limit: limit - taken - skipped
            ) { signal, texts in
                journal.apply(signal, texts: texts)
            }
            journal.reached(position)
            skipped += passed
            // Only a step of the clock divides the read.
            guard position == boundary, position < end else { return (journal.batch.signals - before, skipped) }
        }
    }

    /// Writes the batch; when the database refuses, the journal takes nothing more until it is stored.
    private func store(_ journal: inout LedgerJournal, now: Int64) throws -> Int64 {
        do {
            return try database.ledger.write { [journal] database in
                var writer = LedgerWriter(
                    database, minter: minter, returns: settings.returns, outputs: settings.outputs, now: now)
                return try writer.store(journal.batch, ringID: ring.ringID, firstFreeEvent: journal.firstFreeEvent)
            }
        } catch {
            journal.refused()
            shared.withLock { $0.openCalls = journal.open.count }
            throw error
        }
    }

    private func count(_ result: DrainResult, _ journal: LedgerJournal) {
        if result.skipped > 0 {
            log.warning(
                "signals were half-written or damaged and are skipped", metadata: ["count": "\(result.skipped)"])
        }
        shared.withLock { totals in
            totals.openCalls = journal.open.count
            totals.signals += result.signals
            totals.events += result.events
            totals.skipped += result.skipped
            totals.unclaimed = journal.unclaimed
        }
    }
}
