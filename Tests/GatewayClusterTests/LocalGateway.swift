// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GRDB
import GatewayStore
import Host
import PostgreSQL
import Synchronization
import TestFixtures

@testable import GatewayCluster

/// The accounting of one gateway: ring, recorder, shipper and inbox, with a clock of its own.
///
/// `restart` is what kill -9 and a start are: the ring as it is, and the files as they were committed.
final class LocalGateway {
    private let folder = TemporaryFolder()
    let name: String
    let clock: Clock
    private let shared: SharedDatabase
    private var settings = OutcomeRecorder.Settings()
    private let keeps: Duration
    private var generation = 0
    private(set) var files: HeraldDatabase
    private(set) var ring: UpdateRing
    private(set) var recorder: OutcomeRecorder
    private(set) var sharing: SharingParts
    /// The siblings that respond to this gateway.
    let siblings = Siblings()

    /// The siblings of a gateway as it sees them.
    final class Siblings: Sendable {
        private let sights = Mutex<[SiblingSight]>([])
        var all: [SiblingSight] { sights.withLock { $0 } }
        func responds(_ name: String) {
            sights.withLock { $0.append(SiblingSight(address: "\(name):5070", responds: true)) }
        }
    }

    /// The clock of this gateway: that of the machine, and what a test adds.
    final class Clock: Sendable {
        private let offset: Atomic<Int64>
        private let waited = Atomic<Int64>(0)
        init(_ seconds: Int64) { offset = Atomic(seconds * 1_000_000) }
        var now: Int64 { ClockStepDetector.wall() + offset.load(ordering: .relaxed) }
        /// Microseconds of the monotonic clock.
        var steady: Int64 { SteadyClock.microseconds + waited.load(ordering: .relaxed) }
        /// Lets the monotonic clock go on; calls keep their times.
        func wait(_ seconds: Int64) { waited.add(seconds * 1_000_000, ordering: .relaxed) }
        /// The begin of the tests.
        var start: Int64 { Self.began + offset.load(ordering: .relaxed) }
        /// Seconds since the begin of the tests.
        var sinceStart: Double { Double(now - start) / 1_000_000 }
        private static let began = ClockStepDetector.wall()
    }

    /// - Parameters:
    ///   - clock: seconds by which the gateway's clock is ahead.
    ///   - keeps: the time for which shipped changes are kept.
    init(
        _ name: String, in shared: SharedDatabase, clock: Int64 = 0, keeps: Duration = LedgerShipper.kept,
        _ change: (inout OutcomeRecorder.Settings) -> Void = { _ in }
    ) throws {
        (self.name, self.shared, self.clock, self.keeps) = (name, shared, Clock(clock), keeps)
        settings.isShared = true
        settings.trunks = [0: "carrier"]
        change(&settings)
        files = try HeraldDatabase(folder: folder.path, sharesLedger: settings.isShared)
        ring = try UpdateRing(path: folder.path + "/0.ring", capacity: 1_024)
        recorder = Self.recorder(files, ring, settings, self.clock)
        sharing = Self.sharing(name, shared.address, files, recorder, self.clock, siblings, keeps)
    }

    /// Kills the gateway at once and starts it again, with the shared ledger.
    func restart() throws {
        settings.isShared = true
        let old = folder.path + "/\(generation).ring"
        generation += 1
        let new = folder.path + "/\(generation).ring"
        try FileManager.default.copyItem(atPath: old, toPath: new)
        files = try HeraldDatabase(folder: folder.path, sharesLedger: true)
        ring = try UpdateRing(path: new, capacity: 1_024)
        recorder = Self.recorder(files, ring, settings, clock)
        sharing = Self.sharing(name, shared.address, files, recorder, clock, siblings, keeps)
    }

    /// A second of the running gateway: the recorder stores, the sharing thread ships and looks, the recorder stores.
    func pass() throws {
        try recorder.drain()
        try sharing.round()
        try recorder.drain()
    }

    func calls() throws -> [LedgerCallRow] { try LedgerReader(files).calls(limit: 100).reversed() }

    func keys() throws -> [String] { try calls().flatMap { $0.events.map(\.key) } }

    func count(_ sql: String) throws -> Int? {
        try files.ledger.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM " + sql) }
    }

    private static func recorder(
        _ files: HeraldDatabase, _ ring: UpdateRing, _ settings: OutcomeRecorder.Settings, _ clock: Clock
    ) -> OutcomeRecorder {
        OutcomeRecorder(database: files, ring: ring, settings: settings, now: { clock.now })
    }

    private static func sharing(
        _ name: String, _ address: PostgreSQLAddress, _ files: HeraldDatabase, _ recorder: OutcomeRecorder,
        _ clock: Clock, _ siblings: Siblings, _ keeps: Duration
    ) -> SharingParts {
        SharingParts(name, address, files, recorder, clock, siblings, keeps)
    }
}

/// What the sharing thread of a gateway does in one round.
final class SharingParts {
    let shipper: LedgerShipper
    let inbox: SignalInbox
    let returns: ReturnFinder
    let redials: RedialFinder

    init(
        _ name: String, _ address: PostgreSQLAddress, _ files: HeraldDatabase, _ recorder: OutcomeRecorder,
        _ clock: LocalGateway.Clock, _ siblings: LocalGateway.Siblings = LocalGateway.Siblings(),
        _ keeps: Duration = LedgerShipper.kept
    ) {
        shipper = LedgerShipper(
            PostgreSQLSession(address), LedgerChanges(files), name: name, version: "test", address: "\(name):5070",
            wall: { clock.now }, isStoring: { recorder.totals.problem == nil }, kept: keeps)
        inbox = SignalInbox(shipper, into: recorder.cluster, LedgerSignalCursors(files), wall: { clock.now })
        returns = ReturnFinder(shipper, into: recorder, window: 259_200, wall: { clock.now })
        redials = RedialFinder(
            shipper, into: recorder.cluster, siblings: { siblings.all }, wall: { clock.now }, steady: { clock.steady })
    }

    func round() throws {
        _ = try shipper.ship()
        try redials.look()
        try inbox.look()
        try returns.look()
    }
}

/// A call as a test plays it at any of several gateways; times are seconds before the begin of the tests, by the clock of
/// the gateway.
struct PlayedCall {
    var id: CallIdentifier
    var direction = CallUpdate.Direction.inbound
    var caller: UInt64 = 4_930_123_456
    var destination: UInt64 = 61_291_234_567
    var subscriber = "1001"
    var reason: PassThroughReason?
    var sipCallID = "c1@carrier"
    var customer: UInt32 = 0

    init(_ number: UInt64) { id = CallIdentifier(high: 0xabcd, low: number) }

    /// The call that the subscriber makes to the brand.
    static func outbound(_ number: UInt64) -> PlayedCall {
        var call = PlayedCall(number)
        (call.direction, call.reason) = (.outbound, .outbound)
        (call.caller, call.destination) = (call.destination, call.caller)
        return call
    }

    func invite(_ gateway: LocalGateway, ago: Double) {
        let texts = CallTexts(
            sipCallID: Array(sipCallID.utf8), brandName: Array("Acme".utf8), brandID: Array("b-7".utf8),
            subscriber: Array(subscriber.utf8))
        var invite = update(.invite, gateway, ago)
        invite.customer = customer
        gateway.ring.append(invite, texts: texts)
    }

    func send(_ kind: CallUpdate.Kind, at gateway: LocalGateway, ago: Double, _ status: UInt16 = 0) {
        gateway.ring.append(update(kind, gateway, ago, status))
    }

    /// INVITE, ringing, no 2xx; over at `ago`.
    func missed(_ gateway: LocalGateway, ago: Double) {
        invite(gateway, ago: ago + 31)
        send(.provisional, at: gateway, ago: ago + 30, 180)
        send(.failed, at: gateway, ago: ago, 480)
    }

    func update(
        _ kind: CallUpdate.Kind, _ gateway: LocalGateway, _ ago: Double, _ status: UInt16 = 0
    ) -> CallUpdate {
        CallUpdate(
            kind: kind, direction: direction, call: id, wallMicroseconds: gateway.clock.start - Int64(ago * 1_000_000),
            status: status, caller: caller, destination: destination, reason: reason)
    }
}
