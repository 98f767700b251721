// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GRDB
import GatewayStore
import Host
import Synchronization
import TestFixtures

/// A gateway's outcome side in a folder of its own, with a clock the test moves.
///
/// `restart` is what a kill and a new start are: the ring file as it stands and the database as it was committed.
final class LedgerFixture {
    private let temporary = TemporaryFolder()
    var folder: String { temporary.path }
    let clock = Clock()
    let signers = CurrentTrust()
    var settings: OutcomeRecorder.Settings
    private(set) var database: HeraldDatabase
    private(set) var ring: UpdateRing
    private(set) var recorder: OutcomeRecorder
    private let capacity: Int
    private var generation = 0

    /// Microseconds since 1970, moved by hand.
    final class Clock: Sendable {
        static let start: Int64 = 1_767_225_600_000_000  // 2026-01-01T00:00:00Z
        private let time = Mutex((wall: Clock.start, steady: Int64(0)))
        private let after = Mutex<(@Sendable () -> Void)?>(nil)
        /// Happens once, right after the wall clock has been read.
        var afterNextRead: (@Sendable () -> Void)? {
            get { after.withLock { $0 } }
            set { after.withLock { $0 = newValue } }
        }
        var now: Int64 {
            defer { after.withLock { $0.take() }?() }
            return time.withLock { $0.wall }
        }
        var steps: ClockStepDetector { ClockStepDetector { self.time.withLock { $0.steady } } }
        func advance(seconds: Int64) {
            time.withLock { time in
                time.wall += seconds * 1_000_000
                time.steady += seconds * 1_000_000
            }
        }
        /// As an operator or a time server does, while everything goes on.
        func set(by seconds: Int64) { slew(milliseconds: seconds * 1_000) }
        func slew(milliseconds: Int64) { time.withLock { $0.wall += milliseconds * 1_000 } }
    }

    init(capacity: Int = 256, _ change: (inout OutcomeRecorder.Settings) -> Void = { _ in }) throws {
        let folder = temporary.path
        var settings = OutcomeRecorder.Settings()
        settings.trunks = [0: "carrier", 1: "second"]
        change(&settings)
        self.settings = settings
        self.capacity = capacity
        database = try HeraldDatabase(folder: folder)
        ring = try UpdateRing(path: folder + "/0.ring", capacity: capacity)
        recorder = Self.recorder(database, ring, settings, signers, clock)
    }

    private static func recorder(
        _ database: HeraldDatabase, _ ring: UpdateRing, _ settings: OutcomeRecorder.Settings, _ signers: CurrentTrust,
        _ clock: Clock
    ) -> OutcomeRecorder {
        OutcomeRecorder(
            database: database, ring: ring, settings: settings, signers: signers, now: { clock.now },
            clockSteps: clock.steps)
    }

    /// Kills this process's part at once and starts the next on what it left.
    ///
    /// - Parameters:
    ///   - losingRing: as a power cut loses what is in memory alone.
    ///   - change: what becomes of the ring's file meanwhile.
    func restart(losingRing: Bool = false, _ change: (String) throws -> Void = { _ in }) throws {
        let old = folder + "/\(generation).ring"
        generation += 1
        let new = folder + "/\(generation).ring"
        if !losingRing {
            try FileManager.default.copyItem(atPath: old, toPath: new)
            try change(new)
        }
        database = try HeraldDatabase(folder: folder)
        ring = try UpdateRing(path: new, capacity: capacity)
        recorder = Self.recorder(database, ring, settings, signers, clock)
    }

    /// Everything in the tables, so that two ways to the same state can be compared row by row.
    func rows() throws -> [String] {
        try database.ledger.read { database in
            try ["call", "event"].flatMap { table in
                try Row.fetchAll(database, sql: "SELECT * FROM \(table) ORDER BY id").map { "\(table) \($0)" }
            }
        }
    }

    func keys() throws -> [String] {
        try database.ledger.read { try String.fetchAll($0, sql: "SELECT key FROM event ORDER BY id") }
    }

    func calls(_ filter: CallFilter = .init()) throws -> [LedgerCallRow] {
        try LedgerReader(database.ledger).calls(matching: filter, limit: 100).reversed()
    }

    func events() throws -> [LedgerEventRow] {
        try LedgerReader(database.ledger).events(limit: 100).reversed()
    }
}

/// A call as a test plays it: each word goes into the ring at its second.
struct ScriptedCall {
    /// That of the present recorder; a restart has another.
    var ring: UpdateRing
    var id: CallIdentifier
    var direction = CallUpdate.Direction.inbound
    var caller: UInt64 = 4_930_123_456
    var destination: UInt64 = 61_291_234_567
    var subscriber = "1001"
    var reason: PassThroughReason?
    var sipCallID: String
    var carrierName = ""
    /// The mark of the customer.
    var customer: UInt32 = 0
    var trust: TrustEvidence?
    var evidence: DecisionEvidence?

    init(_ ring: UpdateRing, _ number: UInt64, sipCallID: String = "c1@carrier") {
        self.ring = ring
        self.sipCallID = sipCallID
        id = CallIdentifier(high: 0xabcd, low: number)
    }

    /// Another call with the same people.
    init(_ ring: UpdateRing, _ number: UInt64, like other: ScriptedCall) {
        self = other
        id = CallIdentifier(high: 0xabcd, low: number)
    }

    /// The call the subscriber makes to the brand.
    static func outbound(_ ring: UpdateRing, _ number: UInt64) -> ScriptedCall {
        var play = ScriptedCall(ring, number)
        play.direction = .outbound
        play.reason = .outbound
        (play.caller, play.destination) = (play.destination, play.caller)
        return play
    }

    /// Eight signals of three calls: one is answered and ends, one is missed, one is in progress.
    static func three(_ ring: UpdateRing, from number: UInt64 = 1) {
        let answered = ScriptedCall(ring, number)
        answered.invite()
        answered.rings(at: 1)
        answered.answered(at: 5)
        ScriptedCall(ring, number + 1).missed()
        ScriptedCall(ring, number + 2).invite()
        answered.bye(at: 50)
    }

    func invite(at second: Int64 = 0, marks: CallUpdate.Marks = []) {
        let texts = CallTexts(
            sipCallID: Array(sipCallID.utf8), brandName: Array("Acme \"Bank\"".utf8), brandID: Array("b-7".utf8),
            subscriber: Array(subscriber.utf8), carrierName: Array(carrierName.utf8))
        var invite = update(.invite, second)
        invite.marks = marks
        invite.customer = customer
        invite.trust = trust
        invite.evidence = evidence
        ring.append(invite, texts: texts)
    }

    func rings(at second: Int64) { ring.append(update(.provisional, second, 180)) }
    func answered(at second: Int64, marks: CallUpdate.Marks = [], session: UInt32 = 0) {
        var update = update(.answered, second, 200)
        update.marks = marks
        update.sessionSeconds = session
        ring.append(update)
    }
    func cancelled(at second: Int64) { ring.append(update(.cancelled, second)) }
    func bye(at second: Int64) { ring.append(update(.bye, second)) }
    func failed(_ status: UInt16, at second: Int64) { ring.append(update(.failed, second, status)) }

    /// INVITE, ringing, no 2xx.
    func missed(from second: Int64 = 0) {
        invite(at: second)
        rings(at: second + 1)
        failed(480, at: second + 31)
    }

    func update(_ kind: CallUpdate.Kind, _ second: Int64, _ status: UInt16 = 0) -> CallUpdate {
        CallUpdate(
            kind: kind, direction: direction, call: id,
            wallMicroseconds: LedgerFixture.Clock.start + second * 1_000_000, status: status, caller: caller,
            destination: destination, reason: reason)
    }
}
