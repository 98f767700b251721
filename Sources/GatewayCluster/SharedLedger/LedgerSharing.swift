// SPDX-License-Identifier: Apache-2.0

package import GatewayStore
import Host
package import Logging
package import PostgreSQL
import Synchronization

/// Keeps the shared ledger up to date once a second, and measures how far it is behind.
///
/// A round follows each transaction of the recorder. The shipper has a thread of its own. An outage is logged at its
/// begin, every ten minutes, and at its end.
package final class LedgerSharing: Sendable {
    /// Settings of the operator.
    package struct Settings: Sendable {
        package var address: PostgreSQLAddress
        /// The name of this gateway in the shared ledger.
        package var name: String
        package var version: String
        /// Days after which rows of this gateway are deleted.
        package var retentionDays: Int
        /// Its `cluster.listen`, by which siblings know it.
        package var siblingAddress: String?

        package init(
            address: PostgreSQLAddress, name: String, version: String, retentionDays: Int, siblingAddress: String? = nil
        ) {
            (self.address, self.name, self.version, self.retentionDays) = (address, name, version, retentionDays)
            self.siblingAddress = siblingAddress
        }
    }

    /// The recorder, which takes signals of other gateways, and call backs found among all.
    package struct Inbox: Sendable {
        let ledger: any SiblingLedger
        let cursors: LedgerSignalCursors
        let returns: OutcomeRecorder
        /// Longest time between a call and its call back, in seconds.
        let window: Int64

        package init(
            into ledger: any SiblingLedger, _ cursors: LedgerSignalCursors, returns: OutcomeRecorder, window: Int64
        ) {
            (self.ledger, self.cursors, self.returns, self.window) = (ledger, cursors, returns, window)
        }
    }

    /// The state of the shared ledger, for status and metrics.
    package struct Standing: Hashable, Sendable {
        /// Seconds since the shared ledger had all changes of this gateway.
        package var behind: Double
        /// Changed rows that wait.
        package var waiting: Int
        /// Rows sent since the start.
        package var rows: Int
        /// Failed rounds since the start.
        package var failures: Int
        /// Times that another gateway had taken over while this one was silent.
        package var fenced: Int
        /// Updates that other gateways have seen, read since the start.
        package var signals: Int
        /// Originals and call backs of this gateway, joined among all gateways since the start.
        package var returns: Int
        /// The reason why the last round failed; nil normally.
        package var problem: String?
        /// The reason why this gateway's own ledger stores nothing, so that updates wait before it; nil normally.
        package var ledgerProblem: String?
        /// Role and standbys of the server; nil before its first response.
        package var replication: PostgreSQLReplication?
    }

    private struct State {
        var caughtUpAt: Int64
        var isCaughtUp = false
        var rows = 0
        var failures = 0
        var fenced = 0
        var signals = 0
        var returns = 0
        var waiting = 0
        var problem: String?
        var replication: PostgreSQLReplication?
    }

    /// Time between two rounds of a gateway whose recorder stores nothing; a busy recorder stores once a second.
    package static let pause = Duration.milliseconds(1_500)
    /// The time since the begin of a round after which it no longer shows that nothing waits.
    static let roundIsOld = Duration.seconds(3)
    static let alarms = Duration.seconds(600)
    /// Time between two deletions of old rows, from the start to the first one, and the longest part of one.
    static let prunings = Duration.seconds(3_600)
    static let firstPruning = Duration.seconds(60)
    static let pruning = Duration.seconds(1)
    /// Time between two looks at the standbys.
    static let observations = Duration.seconds(10)
    private static let timeLimit = Duration.seconds(20)
    /// The longest last round: a stop does not wait for a backlog, which stays in the gateway's own ledger.
    static let farewell = Duration.seconds(5)

    private let settings: Settings
    private let source: any SharedChangeSource
    /// The ledger that takes over calls, and the siblings as this gateway sees them; nil for a gateway without siblings.
    private let adopts: (ledger: RecorderCluster, siblings: @Sendable () -> [SiblingSight])?
    private let inbox: Inbox?
    private let ledgerProblem: @Sendable () -> String?
    private let log: Logger
    private let steady: @Sendable () -> Int64
    private let wall: @Sendable () -> Int64
    private let pause: Duration
    private let state: Mutex<State>
    private let isStopping = Atomic<Bool>(false)
    private let bell = SteadyBell()

    /// - Parameters:
    ///   - inbox: nil to read no signals.
    ///   - adopts: the ledger that takes over calls, and the siblings as this gateway sees them.
    ///   - ledgerProblem: the reason why the gateway's own ledger stores nothing; nil normally.
    ///   - steady: microseconds of the monotonic clock.
    ///   - wall: microseconds since 1970.
    ///   - pause: time between two rounds while nothing is stored.
    package init(
        _ settings: Settings, _ source: any SharedChangeSource, inbox: Inbox? = nil,
        adopts: (ledger: RecorderCluster, siblings: @Sendable () -> [SiblingSight])? = nil,
        ledgerProblem: @escaping @Sendable () -> String? = { nil }, log: Logger = Logger(label: "herald.shared"),
        steady: @escaping @Sendable () -> Int64 = { SteadyClock.microseconds },
        wall: @escaping @Sendable () -> Int64 = ClockStepDetector.wall, pause: Duration = LedgerSharing.pause
    ) {
        (self.settings, self.source, self.inbox, self.log) = (settings, source, inbox, log)
        (self.steady, self.wall, self.adopts, self.pause) = (steady, wall, adopts, pause)
        self.ledgerProblem = ledgerProblem
        state = Mutex(State(caughtUpAt: steady()))
    }

    /// The state of the shared ledger.
    package var standing: Standing {
        let now = steady()
        let ledgerProblem = ledgerProblem()
        return state.withLock { state in
            // A round that left nothing is at most some seconds old, unless the next one has much to send.
            let age = now - state.caughtUpAt
            let isUpToDate = state.isCaughtUp && .microseconds(age) < Self.roundIsOld
            let behind = isUpToDate ? 0 : Double(age) / 1_000_000
            return Standing(
                behind: behind, waiting: state.waiting, rows: state.rows, failures: state.failures,
                fenced: state.fenced, signals: state.signals, returns: state.returns, problem: state.problem,
                ledgerProblem: ledgerProblem, replication: state.replication)
        }
    }

    /// Begins the next round at once, because rows were stored; any thread, and it does not wait.
    package func haveStored() { bell.ring() }

    /// Ships once a second until the task is cancelled, and then once more, for five seconds at most, if the server is there.
    package func run() async {
        await NamedThread.run("herald-shared", queue: "herald.shared") {
            self.work()
        } onCancel: {
            isStopping.store(true, ordering: .relaxed)
            bell.ring()
        }
    }

    private func work() {
        let shipper = makeShipper()
        var rounds = SharingRounds(self, shipper, makeExchange(shipper), makeAdoption())
        repeat {
            rounds.round()
            _ = bell.wait(pause)
        } while !isStopping.load(ordering: .relaxed)
        rounds.finish()
    }

    /// A shipper with a connection of its own.
    func makeShipper() -> LedgerShipper {
        LedgerShipper(
            PostgreSQLSession(
                settings.address, application: "herald \(settings.name)", timeLimit: Self.timeLimit,
                setup: SharedSchema.setup),
            source,
            name: settings.name, version: settings.version, address: settings.siblingAddress,
            isStoring: { [ledgerProblem] in ledgerProblem() == nil }, log: log)
    }

    private func makeExchange(_ shipper: LedgerShipper) -> SharedExchange? {
        guard let inbox else { return nil }
        guard let adopts else { return SharedExchange(shipper, inbox, wall: wall) }
        return SharedExchange(shipper, inbox, siblings: adopts.siblings, wall: wall)
    }

    private func makeAdoption() -> GatewayAdoption? {
        adopts.map { GatewayAdoption($0.ledger, siblings: $0.siblings, log: log) }
    }

    /// Calls and events that have moved between gateways.
    package var handovers: HandoverCounts { adopts?.ledger.handovers ?? HandoverCounts() }

    /// One look of a shipper and of an exchange; keeps the result, and returns whether no change is left.
    func look(_ shipper: LedgerShipper, _ exchange: SharedExchange?, isLast: Bool = false) throws -> Bool {
        let began = steady()
        let round = try shipper.ship {
            isLast
                ? .microseconds(self.steady() - began) >= Self.farewell : self.isStopping.load(ordering: .relaxed)
        }
        let (signals, returns) = isLast ? (0, 0) : try exchange?.look() ?? (0, 0)
        let waiting = round.isCaughtUp ? 0 : (try? shipper.waiting()) ?? 0
        let wasDown = state.withLock { state in
            if round.isCaughtUp { state.caughtUpAt = began }
            state.isCaughtUp = round.isCaughtUp
            state.rows += round.rows
            state.signals += signals
            state.returns += returns
            state.fenced += round.wasFenced ? 1 : 0
            state.waiting = waiting
            return state.problem.take() != nil
        }
        if wasDown { log.notice("the shared ledger is written again", metadata: ["server": "\(settings.address)"]) }
        if round.wasFenced {
            log.warning(
                "this gateway was silent for more than \(ShippingStatements.lease) s, and another had taken over; it has joined again"
            )
        }
        return round.isCaughtUp
    }

    /// Reads the state of the server's standbys; nil while it cannot be read.
    func observe(_ shipper: LedgerShipper) {
        let replication = try? shipper.replication()
        state.withLock { $0.replication = replication }
    }

    /// Deletes old rows for a short time; true if none is left.
    ///
    /// The clock of the server decides, so that a gateway whose clock is wrong deletes nothing too early.
    func prune(_ shipper: LedgerShipper) throws -> Bool {
        let began = steady()
        let before = try shipper.serverTime() - Int64(settings.retentionDays) * 86_400
        return try shipper.prune(before: before, returnsAfter: inbox?.window ?? 0) {
            !self.isStopping.load(ordering: .relaxed) && .microseconds(self.steady() - began) < Self.pruning
        }
    }

    /// Keeps a failure; true for another text than before.
    func record(_ error: any Error, waiting: Int?) -> Bool {
        let problem = "\(error)"
        return state.withLock { state in
            state.failures += 1
            state.isCaughtUp = false
            if let waiting { state.waiting = waiting }
            defer { state.problem = problem }
            return state.problem != problem
        }
    }

    /// Logs that the shared ledger is not written.
    func alarm(_ error: any Error) {
        log.error(
            "the shared ledger is not written; calls go on, and their changes wait in this gateway's own ledger",
            metadata: ["reason": "\(error)"])
    }

    /// Microseconds of the monotonic clock.
    var now: Int64 { steady() }
}

/// The schedule of the shipper; one thread.
private struct SharingRounds {
    private let sharing: LedgerSharing
    private let shipper: LedgerShipper
    private let exchange: SharedExchange?
    private let adoption: GatewayAdoption?
    private var alarmedAt: Int64?
    private var nextPruning: Int64
    private var observedAt: Int64?
    private var failures = 0
    private var skipped = 0

    init(
        _ sharing: LedgerSharing, _ shipper: LedgerShipper, _ exchange: SharedExchange?, _ adoption: GatewayAdoption?
    ) {
        (self.sharing, self.shipper, self.exchange, self.adoption) = (sharing, shipper, exchange, adoption)
        nextPruning = sharing.now + Int64(LedgerSharing.firstPruning / .microseconds(1))
    }

    /// One round; after failures a part of the rounds is left out, up to nine of ten.
    mutating func round() {
        guard skipped >= min(failures, 10) - 1 else {
            skipped += 1
            return
        }
        skipped = 0
        // First, because a write waits for a standby that is missing, and a read does not.
        if observedAt.map({ .microseconds(sharing.now - $0) >= LedgerSharing.observations }) ?? true {
            observedAt = sharing.now
            sharing.observe(shipper)
        }
        do {
            let stored = adoption?.stored
            let isCaughtUp = try sharing.look(shipper, exchange)
            try adoption?.round(shipper, shipped: isCaughtUp ? stored : nil, now: sharing.now)
            if let exchange { try adoption?.recall(by: exchange.recall) }
            failures = 0
            // A sign of life goes between two parts of a long deletion.
            if sharing.now >= nextPruning, try sharing.prune(shipper) {
                nextPruning = sharing.now + Int64(LedgerSharing.prunings / .microseconds(1))
            }
        } catch {
            failures += 1
            adoption?.interrupted()
            exchange?.interrupted()
            let isNews = sharing.record(error, waiting: try? shipper.waiting())
            let time = sharing.now
            let isDue = alarmedAt.map { .microseconds(time - $0) >= LedgerSharing.alarms } ?? true
            guard isDue || isNews && failures == 1 else { return }
            alarmedAt = time
            sharing.alarm(error)
        }
    }

    /// The last round: ships what is left, if the server was there.
    mutating func finish() {
        shipper.timeLimit = LedgerSharing.farewell
        if failures == 0 { _ = try? sharing.look(shipper, exchange, isLast: true) }
        exchange?.finish()
        shipper.finish()
    }
}
