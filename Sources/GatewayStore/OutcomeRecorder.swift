// SPDX-License-Identifier: Apache-2.0

package import Branding
import Dispatch
import GRDB
package import Gateway
import Glibc
package import Logging
import Synchronization

/// Turns the signals of the ring into stored calls and events; the only writer of both.
///
/// Each round takes what the ring holds, applies it to the open calls in memory and stores calls, events and the new
/// ring position in one transaction; only then are the slots freed. So after a kill at any moment the next process
/// replays exactly the signals whose effect is not in the database. A power cut costs at most one `interval` and one
/// commit. When the database refuses (disk full), the batch is kept, the ring fills, calls go on, and the same batch is
/// tried again each round.
///
/// `drain` and `prune` block on the disk and are called from one thread at a time; `run` calls them from a queue of
/// its own. Everything else is safe from any thread.
package final class OutcomeRecorder: Sendable {
    /// What the outcome side may be told by the operator.
    package struct Settings: Sendable {
        package var vocabulary = EventVocabulary()
        package var returns = ReturnPolicy()
        package var limits = OutcomeMachine.Limits()
        /// Configured names of the trunks, by the mark signals carry.
        package var trunks: [UInt16: String] = [:]
        /// Time between two rounds; with the commit that follows, what a power cut may cost.
        package var interval: Duration = .milliseconds(40)
        /// Days after which ended calls and delivered events go; waiting and refused events never do.
        package var retentionDays = 90
        /// Bytes of the ledger above which its oldest rows go before their time; undelivered events never do.
        package var maxBytes = 4_294_967_296
        /// Where ended calls go beside the directory.
        package var outputs: [CallOutputSink] = []

        package init() {}
    }

    /// What one round did.
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
        /// Rounds the database refused.
        package var failures = 0
        package var openCalls = 0
        /// Why the last round could not be stored; nil while all is well.
        package var problem: String?
    }

    private let database: HeraldDatabase
    private let ring: SignalRing
    private let settings: Settings
    private let minter: EventMinter
    private let log: Logger
    private let journal: Mutex<LedgerJournal>
    private let shared = Mutex(Totals())
    private let unknownCallers = Mutex<(@Sendable (E164Number) -> Void)?>(nil)
    private let queue = DispatchQueue(label: "herald.outcome")
    private let now: @Sendable () -> Int64

    /// Loads the calls that were open and continues the ring after the last signal stored; before calls are taken.
    ///
    /// - Parameter now: microseconds since 1970; the wall clock unless a test has its own.
    /// - Throws: a database error if the ledger cannot be read.
    package init(
        database: HeraldDatabase, ring: SignalRing, settings: Settings = .init(),
        log: Logger = Logger(label: "herald.outcome"),
        now: @escaping @Sendable () -> Int64 = OutcomeRecorder.wallClock
    ) throws {
        self.database = database
        self.ring = ring
        self.settings = settings
        self.log = log
        self.now = now
        let minter = EventMinter(vocabulary: settings.vocabulary)
        self.minter = minter
        let ringID = ring.ringID
        // The ledger is the truth. It may not know the ring: then what the ring itself remembers is used.
        let released = ring.released
        journal = Mutex(
            try database.ledger.read { database in
                let state = try LedgerState(
                    database, ringID: ringID, awaitsRedial: settings.limits.redial > 0, now: now())
                return LedgerJournal(
                    state, position: ring.resume(after: state.position ?? released), minter: minter,
                    limits: settings.limits, trunks: settings.trunks)
            })
    }

    /// Tells `listener` who called and was not in the index, once the call has ended and is stored.
    ///
    /// Called on the recorder's queue, which must not wait. Withheld and uncertain numbers are never told.
    package func onUnknownCaller(_ listener: @escaping @Sendable (E164Number) -> Void) {
        unknownCallers.withLock { $0 = listener }
    }

    /// Learns the names of the trunks anew, after a reload of the configuration.
    package func setTrunks(_ trunks: [UInt16: String]) { journal.withLock { $0.trunks = trunks } }

    /// Totals since start.
    package var totals: Totals { shared.withLock { $0 } }

    /// Signals shed by the full ring since its file was made.
    package var shed: SignalRing.Shed { ring.shed }

    /// Stores what the ring holds, at most `limit` signals, in one transaction, and closes calls that are overdue.
    ///
    /// - Throws: a database error; nothing was stored then and nothing is lost.
    @discardableResult
    package func drain(limit: Int = 4_096) throws -> DrainResult {
        let time = now()
        return try journal.withLock { journal in
            // Of a round the database refuses as well.
            defer { shared.withLock { $0.openCalls = journal.open.count } }
            var result = DrainResult()
            if journal.batch.isEmpty {
                result.skipped = take(limit, into: &journal)
                journal.sweep(now: time)
            }
            if !journal.batch.isEmpty || result.skipped > 0 {
                result.signals = journal.batch.signals
                result.calls = journal.batch.calls.count
                result.events = journal.batch.events.count
                let added = try store(journal, now: time / 1_000_000)
                result.events += Int(added)
                if let tell = unknownCallers.withLock({ $0 }) { journal.batch.unknownCallers.forEach(tell) }
                journal.stored(addedEvents: added)
                ring.release(through: journal.batch.position)
            }
            count(result, journal)
            return result
        }
    }

    /// Deletes the oldest ended calls and delivered events until the ledger is under its size again.
    ///
    /// - Returns: how many rows went.
    /// - Throws: a database error; what was deleted until then stays deleted.
    @discardableResult
    package func shrink() throws -> Int {
        let deleted = try LedgerRetention(database: database.ledger).shrink(below: settings.maxBytes)
        if deleted > 0 {
            log.warning(
                "the ledger has reached outcomes.max_size; its oldest rows were deleted before their time",
                metadata: ["rows": "\(deleted)"])
        }
        return deleted
    }

    /// Deletes ended calls and delivered events older than the retention, in small steps.
    ///
    /// - Returns: how many rows went.
    /// - Throws: a database error; what was deleted until then stays deleted.
    @discardableResult
    package func prune() throws -> Int {
        let before = now() - Int64(settings.retentionDays) * 86_400_000_000
        return try LedgerRetention(database: database.ledger).prune(before: before)
    }

    /// Drains the ring until the task is cancelled, and once more then; looks at the ledger's size every minute and
    /// at the age of its rows every hour.
    ///
    /// All of it is on one thread that waits for the next round itself, so that a slow disk holds up none of the threads
    /// tasks share: a sleeping task and a queue took five wake-ups of threads each round, 13 to 20 µs of a call at 500/s.
    package func run() async {
        let stopping = DispatchSemaphore(value: 0)
        await withTaskCancellationHandler {
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                queue.async {
                    self.work(until: stopping)
                    done.resume()
                }
            }
        } onCancel: {
            stopping.signal()
        }
    }

    /// Microseconds since 1970.
    package static let wallClock: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    // MARK: One round

    /// Rounds until `stopping` is signalled; on the recorder's own thread.
    private func work(until stopping: DispatchSemaphore) {
        var (lastPrune, lastShrink): (Int64?, Int64?)
        var lastShed = ring.shed
        let (seconds, attoseconds) = settings.interval.components
        let pause = DispatchTimeInterval.nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
        repeat {
            let time = now()
            func isDue(_ last: inout Int64?, after pause: Int64) -> Bool {
                if let last, time >= last, time - last < pause { return false }
                last = time
                return true
            }
            lastShed = reportShed(since: lastShed)
            drainAll()
            if isDue(&lastPrune, after: 3_600_000_000) { report { try prune() } }
            if isDue(&lastShrink, after: 60_000_000) { report { try shrink() } }
        } while stopping.wait(timeout: .now() + pause) == .timedOut
        drainAll()
    }

    private func drainAll() {
        report { while try drain().signals == 4_096 {} }
    }

    /// Runs a step and says when the database begins to refuse and when it takes things again.
    private func report(_ step: () throws -> Void) {
        do {
            try step()
            if shared.withLock({ $0.problem.take() }) != nil {
                log.notice("outcomes are stored again")
            }
        } catch {
            let problem = "\(error)"
            let isNew = shared.withLock { totals in
                totals.failures += 1
                defer { totals.problem = problem }
                return totals.problem == nil
            }
            if isNew {
                log.error(
                    "outcomes cannot be stored; calls go on and the signal ring keeps what they tell until it is full",
                    metadata: ["database": "\(database.ledger.path)", "error": "\(problem)"])
            }
        }
    }

    /// Says how many signals a full ring has turned away since the last round.
    private func reportShed(since last: SignalRing.Shed) -> SignalRing.Shed {
        let shed = ring.shed
        if shed != last {
            log.warning(
                "the signal ring is full, signals are shed; is the disk too slow or full?",
                metadata: [
                    "unbranded": "\(shed.unbranded - last.unbranded)", "branded": "\(shed.branded - last.branded)",
                ])
        }
        return shed
    }

    private func take(_ limit: Int, into journal: inout LedgerJournal) -> Int {
        let (position, skipped) = ring.read(after: journal.batch.position, limit: limit) { signal, texts in
            journal.apply(signal, texts: texts)
        }
        journal.reached(position)
        return skipped
    }

    private func store(_ journal: LedgerJournal, now: Int64) throws -> Int64 {
        try database.ledger.write { database in
            var writer = LedgerWriter(
                database, minter: minter, returns: settings.returns, outputs: settings.outputs, now: now)
            return try writer.store(journal.batch, ringID: ring.ringID, firstFreeEvent: journal.firstFreeEvent)
        }
    }

    private func count(_ result: DrainResult, _ journal: LedgerJournal) {
        if result.skipped > 0 {
            log.warning(
                "signals were half-written or damaged and are skipped", metadata: ["count": "\(result.skipped)"])
        }
        shared.withLock { totals in
            totals.signals += result.signals
            totals.events += result.events
            totals.skipped += result.skipped
            totals.unclaimed = journal.unclaimed
        }
    }
}
