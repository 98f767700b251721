// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import Host
import Logging
import Synchronization

/// The schedule of the recorder: rows once a `storing`, the ledger's size every minute, the age of its rows every hour.
///
/// An update after a quiet `storing` becomes rows with the next round, so a gateway with few calls shows them at once.
/// A ring that is a third full is stored without delay. When the database refuses, the recorder tries again once a
/// `storing`. On the recorder's thread.
struct OutcomeRounds {
    /// The part of the ring from which on updates are stored before their time.
    ///
    /// The ring holds 18,000 calls of seven slots. At 2,000 calls/s a second fills 11 % of it.
    static let crowded = 1.0 / 3

    private let recorder: OutcomeRecorder
    /// Whether long work has to end.
    private let isStopping: () -> Bool
    /// Receives the part of the ring that waits, before each transaction and after the last.
    private let pace: (Double) -> Void
    /// Microseconds since 1970; nil if due at once.
    private var lastStored: Int64?
    private var lastShrink: Int64?
    private var isStuck = false
    private var lastPrune: Int64?
    private var lastShed: UpdateRing.Shed
    private var shedReportedAt: Int64?
    private let steady: () -> Int64
    /// Microseconds of the monotonic clock; nil if due at once.
    private var lastLook: Int64?
    private let alarm = LastAlarm()
    /// After a pause siblings report for up to four seconds what they saw meanwhile: they repeat a report after two.
    private var pause = ProcessPause(of: 5_000, lasting: 4_000)

    /// - Parameter steady: microseconds of the monotonic clock.
    init(
        _ recorder: OutcomeRecorder, isStopping: @escaping () -> Bool = { false },
        pace: @escaping (Double) -> Void = { _ in }, steady: @escaping () -> Int64 = { SteadyClock.microseconds }
    ) {
        self.recorder = recorder
        self.steady = steady
        self.isStopping = isStopping
        self.pace = pace
        lastShed = recorder.shed
        // The recorder has logged a problem of the start.
        alarm.time = recorder.totals.problem == nil ? nil : steady()
    }

    /// One round; blocks on the disk.
    mutating func round() {
        pause.round(at: steady() / 1_000)
        defer { pause.roundEnded(at: steady() / 1_000) }
        reportShed()
        guard attend() else { return }
        take()
        let time = recorder.now()
        // Nothing is deleted while the ledger refuses: the unstored batch may need rows that look old.
        guard !isRefused else { return }
        // With a clock in the wrong year all calls look old. The clock has an hour to be corrected.
        if recorder.clockHasStood(for: .seconds(3_600)), Self.isDue(lastPrune, after: .seconds(3_600), at: time) {
            lastPrune = time
            report { try recorder.prune { goesOn() } }
        }
        // The walk over a ledger without deletable rows is made once an hour.
        if Self.isDue(lastShrink, after: .seconds(isStuck ? 3_600 : 60), at: time) {
            lastShrink = time
            report { record(isStuck: try recorder.shrink { goesOn() }.isStuck) }
        }
    }

    /// Time between two looks at the ledger's file, and between two log lines about one problem.
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

    /// Logs once that the ledger is above its size, with the reason.
    private mutating func record(isStuck isSo: Bool) {
        if isSo, !isStuck {
            recorder.log.warning(
                """
                the ledger is above outcomes.max_size with rows that must stay: events the directory has not taken or has \
                refused (herald events), and calls that still go to an output of outcomes
                """)
        }
        isStuck = isSo
    }

    /// Stores updates that arrived while rows were deleted; false to stop deleting.
    private mutating func goesOn() -> Bool {
        take()
        return !isStopping()
    }

    /// Stores the updates of the ring when they are due.
    private mutating func take() {
        let time = recorder.now()
        let awaitsReports = recorder.cluster.awaitsReports(after: pause, at: steady() / 1_000)
        let isCrowded = !isRefused && recorder.waiting >= Self.crowded
        guard isCrowded || !awaitsReports && Self.isDue(lastStored, after: recorder.settings.storing, at: time)
        else {
            return recorder.look()
        }
        // After a refusal the next attempt waits as long as after a success, because it writes the whole batch again.
        if storeAll() > 0 || isRefused { lastStored = time }
    }

    /// Whether the ledger refused the last batch.
    private var isRefused: Bool { recorder.shared.withLock { $0.problem != nil } }

    /// Stores the updates of the ring; returns their number.
    @discardableResult
    func storeAll() -> Int {
        var updates = 0
        let isStored = report {
            var stored = 0
            repeat {
                pace(recorder.waiting)
                stored = try recorder.drain().updates
                updates += stored
            } while stored >= OutcomeRecorder.mostAtOnce
        }
        pace(recorder.waiting)
        if isStored { recovered() }
        return updates
    }

    private static func isDue(_ last: Int64?, after pause: Duration, at time: Int64) -> Bool {
        guard let last else { return true }
        return time < last || .microseconds(time - last) >= pause
    }

    /// Runs a step; false if the ledger refuses.
    ///
    /// Logs the first refusal, and one every ten minutes.
    @discardableResult
    private func report(_ step: () throws -> Void) -> Bool {
        do {
            try step()
            return true
        } catch {
            let isNews = recorder.record(failure: error)
            let time = steady()
            if isNews || Self.isDue(alarm.time, after: Self.alarms, at: time) {
                alarm.time = time
                recorder.alarm()
            }
            guard let damage = recorder.database.ledgerFile.damage(shownBy: error) else { return false }
            // The next round stores the batch, as after any refusal.
            try? recorder.replaceLedger(because: damage)
            return false
        }
    }

    /// Logs the number of shed updates since the last such line, at most once a minute.
    private mutating func reportShed() {
        let shed = recorder.shed
        let time = steady()
        guard shed != lastShed, Self.isDue(shedReportedAt, after: .seconds(60), at: time) else { return }
        defer { (lastShed, shedReportedAt) = (shed, time) }
        recorder.log.warning(
            "the update ring is full and sheds updates; see whether the disk is slow or full",
            metadata: [
                "unbranded": "\(shed.unbranded - lastShed.unbranded)", "branded": "\(shed.branded - lastShed.branded)",
            ])
    }
}

/// Time of the last log line about a problem, in microseconds of the monotonic clock; one thread.
private final class LastAlarm {
    var time: Int64?
}

extension OutcomeRecorder {
    /// Stores the updates of the ring round by round until the task is cancelled, and then the rest.
    ///
    /// One thread does all of it and waits for the next round itself. So a slow disk blocks none of the threads of the
    /// task pool, and a round takes one wake-up.
    package func run() async {
        let stop = RecorderStop()
        await NamedThread.run("herald-recorder", queue: "herald.outcome") {
            self.work(until: stop)
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

/// The request of another thread to end the rounds.
private final class RecorderStop: Sendable {
    let isWanted = Atomic<Bool>(false)
    /// Ends the wait for the next round.
    let bell = SteadyBell()
}
