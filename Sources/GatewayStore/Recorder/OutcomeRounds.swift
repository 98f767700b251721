// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Dispatch
import GRDB
import HostSystem
import Logging
import Synchronization

/// The schedule of the recorder: rows once a `storing`, the ledger's size every minute, the age of its rows every hour.
///
/// A signal after a quiet `storing` becomes rows with the next round, so a gateway with few calls shows them at once. A
/// ring that is a third full is stored without delay. When the database refuses, the recorder tries again once a
/// `storing`. On the recorder's thread.
struct OutcomeRounds {
    /// The part of the ring from which on signals are stored before their time.
    ///
    /// The ring holds 18,000 calls of seven slots. At 2,000 calls/s a second fills 11 % of it.
    static let crowded = 1.0 / 3

    private let recorder: OutcomeRecorder
    /// Whether what takes long is to end.
    private let isStopping: () -> Bool
    /// Receives the part of the ring that waits, before each transaction and after the last.
    private let pace: (Double) -> Void
    /// Microseconds since 1970; nil where it is due at once.
    private var lastStored: Int64?
    private var lastShrink: Int64?
    private var isStuck = false
    private var lastPrune: Int64?
    private var lastShed: SignalRing.Shed
    private var shedTold: Int64?
    private let steady: () -> Int64
    /// Microseconds of the monotonic clock; nil where it is due at once.
    private var lastLook: Int64?
    private let alarm = LastAlarm()

    /// - Parameter steady: microseconds of a clock that nobody sets.
    init(
        _ recorder: OutcomeRecorder, isStopping: @escaping () -> Bool = { false },
        pace: @escaping (Double) -> Void = { _ in }, steady: @escaping () -> Int64 = { SteadyClock.microseconds }
    ) {
        self.recorder = recorder
        self.steady = steady
        self.isStopping = isStopping
        self.pace = pace
        lastShed = recorder.shed
        // What was wrong at the start was told then.
        alarm.time = recorder.totals.problem == nil ? nil : steady()
    }

    /// One round; blocks on the disk.
    mutating func round() {
        reportShed()
        guard attend() else { return }
        take()
        let time = recorder.now()
        // Nothing goes while the ledger refuses: what it has not yet stored may need what looks old.
        guard !isRefused else { return }
        // A clock in the wrong year would take all calls for old: it has an hour to be put right.
        if recorder.clockHasStood(for: .seconds(3_600)), Self.isDue(lastPrune, after: .seconds(3_600), at: time) {
            lastPrune = time
            report { try recorder.prune { goesOn() } }
        }
        // A walk over a whole ledger in which nothing may go is not made again each minute.
        if Self.isDue(lastShrink, after: .seconds(isStuck ? 3_600 : 60), at: time) {
            lastShrink = time
            report { note(isStuck: try recorder.shrink { goesOn() }.isStuck) }
        }
    }

    /// Between two looks after the ledger's file, and between two lines about one trouble.
    static let looks: Duration = .seconds(5)
    static let alarms: Duration = .seconds(600)

    /// Whether there is a ledger to write to.
    private mutating func attend() -> Bool {
        let time = steady()
        guard Self.isDue(lastLook, after: Self.looks, at: time) else { return recorder.isTakenUp }
        lastLook = time
        let wasTakenUp = recorder.isTakenUp
        if report({ try recorder.attend() }), !wasTakenUp, recorder.isTakenUp { recovered() }
        return recorder.isTakenUp
    }

    private func recovered() {
        if recorder.shared.withLock({ $0.problem.take() }) != nil { recorder.log.notice("outcomes are stored again") }
    }

    /// Says once that the ledger is above its size and why.
    private mutating func note(isStuck isSo: Bool) {
        if isSo, !isStuck {
            recorder.log.warning(
                """
                the ledger is above outcomes.max_size with rows that must stay: events the directory has not taken or has \
                refused (herald events), and calls that still go to outcomes.cdr_file or outcomes.webhook
                """)
        }
        isStuck = isSo
    }

    /// Stores signals that came while rows were deleted; false to stop deleting.
    private mutating func goesOn() -> Bool {
        take()
        return !isStopping()
    }

    /// Stores the signals of the ring when they are due.
    private mutating func take() {
        let time = recorder.now()
        let isCrowded = !isRefused && recorder.waiting >= Self.crowded
        guard isCrowded || Self.isDue(lastStored, after: recorder.settings.storing, at: time) else {
            return recorder.lookAtClock()
        }
        // After a refusal the next try is as far away as after a success: it writes the whole batch again.
        if storeAll() > 0 || isRefused { lastStored = time }
    }

    /// Whether the ledger did not take what it was given last.
    private var isRefused: Bool { recorder.shared.withLock { $0.problem != nil } }

    /// Stores the signals of the ring; returns how many they were.
    @discardableResult
    func storeAll() -> Int {
        var signals = 0
        let isStored = report {
            var stored = 0
            repeat {
                pace(recorder.waiting)
                stored = try recorder.drain().signals
                signals += stored
            } while stored >= OutcomeRecorder.mostAtOnce
        }
        pace(recorder.waiting)
        if isStored { recovered() }
        return signals
    }

    private static func isDue(_ last: Int64?, after pause: Duration, at time: Int64) -> Bool {
        guard let last else { return true }
        return time < last || .microseconds(time - last) >= pause
    }

    /// Runs a step and says when the ledger begins to refuse, and again every ten minutes; false when it does.
    @discardableResult
    private func report(_ step: () throws -> Void) -> Bool {
        do {
            try step()
            return true
        } catch {
            let isNews = recorder.note(failure: error)
            let time = steady()
            if isNews || Self.isDue(alarm.time, after: Self.alarms, at: time) {
                alarm.time = time
                recorder.alarm()
            }
            guard let damage = recorder.database.ledgerFile.damage(shownBy: error) else { return false }
            // Stored with the next round, as after any refusal.
            try? recorder.replaceLedger(because: damage)
            return false
        }
    }

    /// Says how many signals a full ring has turned away since that was said last; once a minute at the most.
    private mutating func reportShed() {
        let shed = recorder.shed
        let time = steady()
        guard shed != lastShed, Self.isDue(shedTold, after: .seconds(60), at: time) else { return }
        defer { (lastShed, shedTold) = (shed, time) }
        recorder.log.warning(
            "the signal ring is full, signals are shed; is the disk too slow or full?",
            metadata: [
                "unbranded": "\(shed.unbranded - lastShed.unbranded)", "branded": "\(shed.branded - lastShed.branded)",
            ])
    }
}

/// When a trouble was last told, in microseconds of the monotonic clock; of one thread.
private final class LastAlarm {
    var time: Int64?
}

extension OutcomeRecorder {
    /// Stores the signals of the ring round by round until the task is cancelled, and then the rest.
    ///
    /// All of it is on one thread that waits for the next round itself, so that a slow disk holds up none of the threads
    /// tasks share: a sleeping task and a queue took five wake-ups of threads each round, 13 to 20 µs of a call at 500/s.
    package func run() async {
        let stop = RecorderStop()
        await withTaskCancellationHandler {
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                DispatchQueue(label: "herald.outcome").async {
                    self.work(until: stop)
                    done.resume()
                }
            }
        } onCancel: {
            stop.isWanted.store(true, ordering: .relaxed)
            stop.bell.ring()
        }
    }

    private func work(until stop: RecorderStop) {
        var priority = RecorderPriority()
        var rounds = OutcomeRounds(
            self, isStopping: { stop.isWanted.load(ordering: .relaxed) }, pace: { priority.follow($0) })
        repeat {
            rounds.round()
            roundEnded()
        } while !stop.bell.wait(settings.interval)
        rounds.storeAll()
    }
}

/// The end of a recorder's rounds, asked for by another thread.
private final class RecorderStop: Sendable {
    let isWanted = Atomic<Bool>(false)
    /// Ends the wait for the next round.
    let bell = SteadyBell()
}
