// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GRDB
import GatewayCluster
import GatewayStore
import Host
import Logging
import PostgreSQL
import Synchronization
import TestFixtures

/// The accounting of a gateway of a cluster: ring, recorder, ledger, shipper and adoption, round by round.
///
/// A kill loses what is in memory. The ring and the ledger stay, as on a disk.
final class ClusterGateway {
    static let start: Int64 = 1_795_823_000_000_000

    let folder = TemporaryFolder()
    let name: String
    private let shared: PostgreSQLAddress
    private(set) var files: HeraldDatabase
    private(set) var ring: UpdateRing
    private(set) var recorder: OutcomeRecorder
    private(set) var shipper: LedgerShipper
    private(set) var adoption: GatewayAdoption
    private(set) var inbox: SignalInbox
    private var generation = 0
    private var ringPath: String
    private var steady: Int64 = 0
    private let view: SiblingView
    private let clock: SharedTime

    /// The siblings as this gateway sees them.
    final class SiblingView: Sendable {
        private let sights: Mutex<[SiblingSight]>
        init(_ names: [String]) {
            sights = Mutex(names.map { SiblingSight(address: Self.address($0), responds: true) })
        }
        static func address(_ name: String) -> String { "\(name):5070" }
        var all: [SiblingSight] { sights.withLock { $0 } }
        func set(_ name: String, responds: Bool, clockOffset: Int64? = nil) {
            sights.withLock { sights in
                for place in sights.indices where sights[place].address == Self.address(name) {
                    sights[place] = SiblingSight(
                        address: sights[place].address, responds: responds,
                        clockOffset: clockOffset ?? sights[place].clockOffset)
                }
            }
        }
    }

    /// The wall clock of a gateway, with the monotonic clock beside it.
    final class SharedTime: Sendable {
        private let time = Mutex((wall: ClusterGateway.start, steady: Int64(0)))
        var now: Int64 { time.withLock { $0.wall } }
        var steady: Int64 { time.withLock { $0.steady } }
        func advance(_ seconds: Int64) {
            time.withLock { $0 = ($0.wall + seconds * 1_000_000, $0.steady + seconds * 1_000_000) }
        }
        init(ahead: Int64) { time.withLock { $0.wall += ahead * 1_000_000 } }
    }

    /// - Parameter clockAhead: seconds by which its clock is ahead of the others.
    init(_ name: String, _ address: PostgreSQLAddress, siblings: [String], clockAhead: Int64 = 0) throws {
        self.name = name
        shared = address
        view = SiblingView(siblings)
        clock = SharedTime(ahead: clockAhead)
        files = try HeraldDatabase(folder: folder.path, sharesLedger: true)
        ringPath = folder.path + "/0.ring"
        ring = try UpdateRing(path: ringPath, capacity: 1_024)
        (recorder, shipper, adoption, inbox) = Self.parts(name, files, ring, view, clock, address)
    }

    private static func parts(
        _ name: String, _ files: HeraldDatabase, _ ring: UpdateRing, _ view: SiblingView, _ clock: SharedTime,
        _ address: PostgreSQLAddress
    ) -> (OutcomeRecorder, LedgerShipper, GatewayAdoption, SignalInbox) {
        var settings = OutcomeRecorder.Settings()
        settings.trunks = [0: "carrier"]
        settings.isShared = true
        let recorder = OutcomeRecorder(
            database: files, ring: ring, settings: settings, now: { clock.now },
            clockSteps: ClockStepDetector { clock.steady })
        recorder.cluster.expectHandovers()
        let shipper = LedgerShipper(
            PostgreSQLSession(address), LedgerChanges(files), name: name, version: "test",
            address: SiblingView.address(name), wall: { clock.now })
        let inbox = SignalInbox(shipper, into: recorder.cluster, LedgerSignalCursors(files), wall: { clock.now })
        let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return (recorder, shipper, GatewayAdoption(recorder.cluster, siblings: { view.all }, log: silent), inbox)
    }

    /// What a kill and a new start are; `losingDisk` begins with an empty folder.
    func restart(losingDisk: Bool = false) throws {
        let old = ringPath
        generation += 1
        let path = folder.path + (losingDisk ? "/new" : "")
        if losingDisk { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) }
        let new = path + "/\(generation).ring"
        if !losingDisk { try FileManager.default.copyItem(atPath: old, toPath: new) }
        ringPath = new
        files = try HeraldDatabase(folder: path, sharesLedger: true)
        ring = try UpdateRing(path: new, capacity: 1_024)
        (recorder, shipper, adoption, inbox) = Self.parts(name, files, ring, view, clock, shared)
    }

    /// Starts on a folder to which a backup was restored, with the ring of before or without it.
    func restart(in path: String, keepingRing: Bool) throws {
        generation += 1
        let new = path + "/\(generation).ring"
        if keepingRing { try FileManager.default.copyItem(atPath: ringPath, toPath: new) }
        ringPath = new
        files = try HeraldDatabase(folder: path, sharesLedger: true)
        ring = try UpdateRing(path: new, capacity: 1_024)
        (recorder, shipper, adoption, inbox) = Self.parts(name, files, ring, view, clock, shared)
    }

    func sees(_ name: String, responds: Bool, clockOffset: Int64? = nil) {
        view.set(name, responds: responds, clockOffset: clockOffset)
    }

    func advance(_ seconds: Int64) { clock.advance(seconds) }

    /// A second of the recorder, the shipper and the adoption; 20 s pass for the latter.
    func round() throws {
        try recorder.drain()
        let stored = adoption.stored
        let isCaughtUp = try shipper.ship().isCaughtUp
        try inbox.look()
        steady += 20_000_000
        try adoption.round(shipper, shipped: isCaughtUp ? stored : nil, now: steady)
        try adoption.recall(by: inbox.recall)
        try recorder.drain()
    }

    /// Claims, and dies before its ledger stores anything.
    func claim() throws {
        _ = try shipper.ship()
        try adoption.round(shipper, shipped: nil, now: steady + 20_000_000)
    }

    func rounds(_ count: Int) throws { for _ in 0..<count { try round() } }

    // MARK: Calls

    static func call(_ number: UInt64) -> CallIdentifier { CallIdentifier(high: 0xABCD, low: number) }

    static func update(
        _ kind: CallUpdate.Kind, _ number: UInt64, at second: Int64, status: UInt16 = 0
    ) -> CallUpdate {
        CallUpdate(
            kind: kind, direction: .inbound, call: call(number), wallMicroseconds: start + second * 1_000_000,
            status: status, caller: 4_930_123_456 + number, destination: 61_291_234_567)
    }

    func invite(_ number: UInt64, at second: Int64 = 0) {
        let texts = CallTexts(
            sipCallID: Array("\(number)@carrier".utf8), brandName: Array("Acme".utf8), brandID: Array("b-7".utf8),
            subscriber: Array("1001".utf8))
        ring.append(Self.update(.invite, number, at: second), texts: texts)
    }

    func sees(_ kind: CallUpdate.Kind, _ number: UInt64, at second: Int64, status: UInt16 = 0) {
        ring.append(Self.update(kind, number, at: second, status: status))
    }

    /// A call that is answered after five seconds and goes on.
    func answered(_ number: UInt64) {
        invite(number)
        sees(.provisional, number, at: 1, status: 180)
        sees(.answered, number, at: 5, status: 200)
    }

    // MARK: What its own ledger has

    func own() throws -> [LedgerCallRow] { try LedgerReader(files).calls(limit: 10_000) }

    func own(_ number: UInt64) throws -> LedgerCallRow? {
        let id = Self.call(number).description
        return try own().first { $0.callID == id }
    }

    /// A call in words: its outcome, and its talk time where the end was seen; nil for no call.
    func account(_ number: UInt64) throws -> String? {
        try own(number).map { call in
            (call.outcome ?? "OPEN") + (call.callSeconds.map { " after \($0) s" } ?? "")
        }
    }

    func keys() throws -> [String] {
        try files.ledger.read { try String.fetchAll($0, sql: "SELECT key FROM event ORDER BY id") }
    }

    /// Marks all waiting events as delivered; returns their keys.
    func sendEvents() throws -> [String] {
        try files.ledger.write { database in
            let keys = try String.fetchAll(database, sql: "SELECT key FROM event WHERE state = 0 ORDER BY id")
            try database.execute(sql: "UPDATE event SET state = 1, event_id = 'ev' WHERE state = 0")
            return keys
        }
    }
}

extension SharedDatabase {
    /// Makes a gateway's lease end, as 16 seconds of silence do.
    func silence(_ name: String) throws {
        try look.script("UPDATE ledger.node SET seen_at = now() - interval '16 seconds' WHERE name = '\(name)'")
    }

    /// How often a gateway was registered or fenced.
    func epoch(_ name: String) throws -> Int64? { try integer("SELECT epoch FROM ledger.node WHERE name = '\(name)'") }

    /// The number of rows that a gateway has in a table.
    func rows(_ table: String, of name: String) throws -> Int64? {
        try integer("SELECT count(*) FROM ledger.\(table) WHERE node = \(node(name))")
    }

    /// The number of a gateway.
    func node(_ name: String) throws -> Int64 {
        try look.execute("SELECT id FROM ledger.node WHERE name = $1", [.text(name)]).first?.integer(0) ?? 0
    }

    /// The gateways that the view `ledger.calls` shows a call with, and its outcome there.
    func shown(_ number: UInt64) throws -> [String] {
        try look.execute(
            "SELECT gateway || ' ' || outcome FROM ledger.calls WHERE call_id = $1",
            [.text(ClusterGateway.call(number).description)]
        ).map { try $0.text(0) ?? "" }
    }
}
