// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GRDB
import Glibc
import Logging
import Synchronization
import TestFixtures
import Testing

@testable import GatewayStore

/// A ledger that is damaged, foreign or away stops accounting at the most, and never for longer than it must.
@Suite("Recorder: without a ledger that can be used")
struct LostLedgerTests {
    private let temporary = TemporaryFolder()
    private var folder: String { temporary.path }
    private let clock = LedgerFixture.Clock()
    private let ring: UpdateRing
    private var ledgerPath: String { folder + "/state/herald.sqlite" }

    init() throws {
        let folder = temporary.path
        try FileManager.default.createDirectory(atPath: folder + "/run", withIntermediateDirectories: true)
        ring = try UpdateRing(path: folder + "/run/signals.ring", capacity: 256)
    }

    private func recorder() -> OutcomeRecorder {
        let database = HeraldDatabase(ofGateway: folder + "/state", spare: folder + "/run")
        return OutcomeRecorder(database: database, ring: ring, now: { [clock] in clock.now }, clockSteps: clock.steps)
    }

    /// Rounds whose looks after the file are due each time.
    private func rounds(_ recorder: OutcomeRecorder) -> OutcomeRounds {
        let time = Mutex(Int64(0))
        return OutcomeRounds(
            recorder,
            steady: {
                time.withLock { time in
                    time += 10_000_000
                    return time
                }
            })
    }

    private func calls(_ recorder: OutcomeRecorder) throws -> [String?] {
        try LedgerReader(recorder.database).calls(limit: 100).reversed().map(\.outcome)
    }

    private func setAside() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder + "/state").filter {
            $0.hasPrefix("herald.sqlite.damaged-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        }
    }

    private func makeState() throws {
        try FileManager.default.createDirectory(atPath: folder + "/state", withIntermediateDirectories: true)
    }

    @Test func `a file that is no database is kept under another name, and a new ledger begun`() throws {
        try makeState()
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: ledgerPath))
        let recorder = recorder()
        ScriptedCall.three(ring)
        var rounds = rounds(recorder)
        rounds.round()
        #expect(try calls(recorder) == ["ANSWERED", "MISSED", nil])
        #expect(try setAside().count == 1)
        #expect(recorder.totals.problem == nil)
        guard case .ledgerSetAside(let file) = recorder.database.notices.first else {
            Issue.record("nothing is said of it")
            return
        }
        #expect("\(file.damage)".contains(ledgerPath) && file.kept.hasPrefix(ledgerPath + ".damaged-2"))
    }

    /// Damages the pages of a table and leaves the schema, so that the file opens well.
    private func damageInside() throws {
        let queue = try DatabaseQueue(path: ledgerPath)
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        let root = try #require(
            try queue.read { try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'call'") })
        try queue.close()
        let file = try #require(FileHandle(forWritingAtPath: ledgerPath))
        try file.seek(toOffset: UInt64((root - 1) * 4096))
        try file.write(contentsOf: Data(repeating: 0x41, count: 4096))
        try file.close()
    }

    @Test func `pages damaged inside are found when the open calls are read`() throws {
        var recorder: OutcomeRecorder? = recorder()
        ScriptedCall.three(ring)
        try recorder?.drain()
        try recorder?.database.close()
        recorder = nil
        try damageInside()
        let next = self.recorder()
        ScriptedCall(ring, 9).missed(from: 60)
        try next.drain()
        #expect(try calls(next) == ["MISSED"])
        #expect(try setAside().count == 1)
    }

    @Test func `a ledger of a newer herald is left alone until it is moved away, and updates wait in the ring`() throws
    {
        try HeraldDatabase(folder: folder + "/state").close()
        let queue = try DatabaseQueue(path: ledgerPath)
        try queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('ledger of tomorrow')") }
        try queue.close()
        let recorder = recorder()
        var rounds = rounds(recorder)
        ScriptedCall.three(ring)
        rounds.round()
        #expect(throws: HeraldDatabaseError.self) { try recorder.drain() }
        #expect(recorder.totals.problem?.contains("newer herald") == true)
        #expect(ring.released == 0)
        #expect(try setAside().isEmpty)
        for ending in ["", "-wal", "-shm"] {
            try? FileManager.default.moveItem(atPath: ledgerPath + ending, toPath: ledgerPath + ".moved" + ending)
        }
        rounds.round()
        #expect(try calls(recorder) == ["ANSWERED", "MISSED", nil], "without a restart")
        #expect(recorder.totals.problem == nil)
    }

    @Test func `a folder that cannot be made or read is waited for, while calls fill the ring`() throws {
        // A file in its place; it stands for every reason, for a test may run as root.
        try Data().write(to: URL(fileURLWithPath: folder + "/state"))
        let recorder = recorder()
        var rounds = rounds(recorder)
        ScriptedCall.three(ring)
        for number: UInt64 in 10...200 { ScriptedCall(ring, number).missed(from: 60) }
        rounds.round()
        #expect(recorder.totals.problem?.contains(folder + "/state") == true)
        #expect(ring.shed.branded > 0, "what the ring cannot take is counted")
        try FileManager.default.removeItem(atPath: folder + "/state")
        rounds.round()
        #expect(recorder.totals.problem == nil)
        #expect(try calls(recorder).prefix(3) == ["ANSWERED", "MISSED", nil])
        #expect(ring.released == ring.claimed)
    }

    @Test func `signals that wait in the ring are not lost with a damaged ledger`() throws {
        var recorder: OutcomeRecorder? = recorder()
        ScriptedCall(ring, 1).missed()
        try recorder?.drain()
        let call = ScriptedCall(ring, 2)
        call.invite(at: 40)
        call.rings(at: 41)
        try recorder?.database.close()
        recorder = nil
        // The log beside it would bring every page back.
        for ending in ["-wal", "-shm"] { unlink(ledgerPath + ending) }
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: ledgerPath))
        let next = self.recorder()
        call.failed(486, at: 45)
        try next.drain()
        let outcomes = try calls(next)
        #expect(outcomes == ["REJECTED"])
    }

    @Test func `a ledger removed under calls is noticed; calls in progress go on in a new one`() throws {
        let recorder = recorder()
        var rounds = rounds(recorder)
        let call = ScriptedCall(ring, 1)
        call.invite()
        call.rings(at: 2)
        ScriptedCall(ring, 2).missed(from: 1)
        rounds.round()
        try FileManager.default.removeItem(atPath: folder + "/state")
        rounds.round()
        call.answered(at: 5)
        call.bye(at: 65)
        clock.advance(seconds: 66)
        rounds.round()
        rounds.storeAll()
        let rows = try LedgerReader(recorder.database).calls(limit: 10)
        #expect(rows.map(\.outcome) == ["ANSWERED"])
        #expect(rows.first?.ringSeconds == 3 && rows.first?.callSeconds == 60)
        // The name was shown before the file was lost: whether the directory knows is unknown, and the key is the same.
        #expect(rows.first?.events.map(\.key) == ["displayed:\(call.id)", "call_seen:\(call.id)"])
    }

    @Test func `what was not stored when the ledger was found damaged goes into the new one, once`() throws {
        let recorder = recorder()
        let call = ScriptedCall(ring, 1)
        call.invite()
        try recorder.drain()
        call.rings(at: 2)
        call.answered(at: 4)
        call.bye(at: 9)
        try recorder.database.ledger.write { try $0.execute(sql: "ALTER TABLE call RENAME TO away") }
        #expect(throws: DatabaseError.self) { try recorder.drain() }
        try recorder.replaceLedger(
            because: HeraldDatabaseError(path: ledgerPath, problem: .damaged("database disk image is malformed")))
        ScriptedCall(ring, 2).missed(from: 20)
        // The batch first: nothing more is taken until it is stored.
        for _ in 0..<2 { try recorder.drain() }
        #expect(try calls(recorder) == ["ANSWERED", "MISSED"])
        let keys = try recorder.database.ledger.read {
            try String.fetchAll($0, sql: "SELECT key FROM event ORDER BY id")
        }
        #expect(Set(keys).count == keys.count && keys.count == 4)
        #expect(try setAside().count == 1)
    }

    @Test func `a broken disk is not filled with damaged ledgers`() throws {
        let recorder = recorder()
        let damage = HeraldDatabaseError(path: ledgerPath, problem: .damaged("malformed"))
        try recorder.replaceLedger(because: damage)
        #expect(throws: HeraldDatabaseError.self) { try recorder.replaceLedger(because: damage) }
        #expect(try setAside().count == 1)
    }

    @Test func `a copy put back under the running gateway knows its calls in progress`() throws {
        let recorder = recorder()
        var rounds = rounds(recorder)
        let call = ScriptedCall(ring, 1)
        call.invite()
        rounds.round()
        try recorder.database.ledger.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try FileManager.default.copyItem(atPath: ledgerPath, toPath: folder + "/copy")
        for ending in ["", "-wal", "-shm"] { unlink(ledgerPath + ending) }
        try FileManager.default.moveItem(atPath: folder + "/copy", toPath: ledgerPath)
        rounds.round()
        call.rings(at: 1)
        call.failed(486, at: 3)
        clock.advance(seconds: 5)
        rounds.round()
        rounds.storeAll()
        #expect(try calls(recorder) == ["REJECTED"], "one row, not two")
    }
}

/// Brand records are the directory's: a place that cannot be written costs no call its name.
@Suite("Brand records without their folder")
struct SpareBrandsTests {
    private let temporary = TemporaryFolder()
    private var folder: String { temporary.path }

    private func made(_ names: String...) throws {
        for name in names {
            try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
    }

    private func place(_ database: HeraldDatabase) -> String {
        for case .brandsElsewhere(_, let place) in database.notices { return place ?? "memory" }
        return "state"
    }

    @Test func `they are kept in the spare folder, or in memory, until the state folder can be used`() async throws {
        try made("run")
        try Data().write(to: URL(fileURLWithPath: folder + "/state"))
        let spare = HeraldDatabase(ofGateway: folder + "/state", spare: folder + "/run")
        #expect(place(spare) == folder + "/run")
        try await spare.brands.write { try $0.execute(sql: "UPDATE sync_state SET cursor = 'kept'") }
        try? spare.close()
        let again = HeraldDatabase(ofGateway: folder + "/state", spare: folder + "/run")
        #expect(try await BrandCacheStore(again).syncState().cursor == "kept", "a restart finds them")
        try? again.close()
        let nowhere = HeraldDatabase(ofGateway: folder + "/state", spare: folder + "/state")
        #expect(place(nowhere) == "memory")
        #expect(try await BrandCacheStore(nowhere).syncState().cursor == nil)
        try FileManager.default.removeItem(atPath: folder + "/state")
        let mended = HeraldDatabase(ofGateway: folder + "/state", spare: folder + "/run")
        #expect(place(mended) == "state")
        #expect(!FileManager.default.fileExists(atPath: folder + "/run/brands.sqlite"), "a stale copy serves nobody")
    }

    @Test func `damaged records that cannot be renamed are not copied`() throws {
        try made("state/brands.sqlite.aside", "run")
        // Not empty: nothing can be renamed to it.
        try Data().write(to: URL(fileURLWithPath: folder + "/state/brands.sqlite.aside/x"))
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: folder + "/state/brands.sqlite"))
        let database = HeraldDatabase(ofGateway: folder + "/state", spare: folder + "/run")
        #expect(place(database) == folder + "/run")
    }
}

/// A disk that is read-only at the start or later: accounts go on once it can be written, without a restart.
@Suite("Recorder: on a disk that cannot be written", .enabled(if: UnwritableFiles.arePossible))
struct ReadOnlyLedgerTests {
    private let temporary = TemporaryFolder()
    private var folder: String { temporary.path }
    private let clock = LedgerFixture.Clock()
    private let ring: UpdateRing

    init() throws {
        let folder = temporary.path
        try FileManager.default.createDirectory(atPath: folder + "/run", withIntermediateDirectories: true)
        ring = try UpdateRing(path: folder + "/run/signals.ring", capacity: 256)
    }

    private func recorder(_ database: HeraldDatabase) -> OutcomeRecorder {
        OutcomeRecorder(database: database, ring: ring, now: { [clock] in clock.now }, clockSteps: clock.steps)
    }

    private func start() -> HeraldDatabase {
        HeraldDatabase(ofGateway: folder + "/state", spare: folder + "/run")
    }

    private func rounds(_ recorder: OutcomeRecorder) -> OutcomeRounds {
        let time = Mutex(Int64(0))
        return OutcomeRounds(
            recorder,
            steady: {
                time.withLock { time in
                    time += 10_000_000
                    return time
                }
            })
    }

    private func outcomes(_ recorder: OutcomeRecorder) throws -> [String?] {
        try LedgerReader(recorder.database).calls(limit: 100).reversed().map(\.outcome)
    }

    @Test func `a start on it recovers: calls, events and syncs`() async throws {
        let first = start()
        ScriptedCall(ring, 9).missed()
        try recorder(first).drain()
        try first.close()
        let files = UnwritableFiles(["herald.sqlite", "brands.sqlite"].map { folder + "/state/" + $0 })
        try files.close()
        defer { try? files.open() }
        let recorder = recorder(start())
        var rounds = rounds(recorder)
        ScriptedCall.three(ring)
        rounds.round()
        #expect(recorder.totals.problem?.contains("cannot be written") == true, "\(recorder.totals.problem ?? "")")
        let released = ring.released
        // A sync is stored beside the state folder meanwhile.
        try await recorder.database.brands.write { try $0.execute(sql: "UPDATE sync_state SET cursor = 'new'") }
        try files.open()
        rounds.round()
        #expect(recorder.totals.problem == nil)
        #expect(ring.released > released)
        #expect(try outcomes(recorder) == ["MISSED", "ANSWERED", "MISSED", nil])
        let due = try await EventOutboxStore(recorder.database).dueEvents(limit: 100, now: 2_000_000_000)
        try await EventOutboxStore(recorder.database).markDelivered(
            key: try #require(due.first).event.key, receipt: EventReceipt(eventID: "e", counted: true),
            now: 2_000_000_001)
    }

    @Test func `a file that SQLite came to treat as read-only is opened again, with the calls in progress`() throws {
        let recorder = recorder(start())
        var rounds = rounds(recorder)
        let call = ScriptedCall(ring, 1)
        call.invite()
        rounds.round()
        try recorder.database.ledger.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 1") }
        call.rings(at: 2)
        call.answered(at: 5)
        call.bye(at: 65)
        clock.advance(seconds: 66)
        rounds.round()
        #expect(recorder.totals.problem?.contains("cannot be written") == true)
        for _ in 0..<2 {
            clock.advance(seconds: 2)
            rounds.round()
        }
        #expect(recorder.totals.problem == nil)
        #expect(try outcomes(recorder) == ["ANSWERED"])
        #expect(try LedgerReader(recorder.database).events(limit: 10).count == 2)
    }
}

/// Files that nobody may write, also not root.
private struct UnwritableFiles {
    let paths: [String]

    init(_ paths: [String]) { self.paths = paths }

    /// False where the file system has no immutable files, and the tests run as root.
    static var arePossible: Bool {
        let folder = TemporaryFolder()
        let files = UnwritableFiles([folder.path + "/probe"])
        guard FileManager.default.createFile(atPath: files.paths[0], contents: nil) else { return false }
        guard (try? files.close()) != nil else { return false }
        defer { try? files.open() }
        return access(files.paths[0], W_OK) != 0
    }

    func close() throws { try change(isImmutable: true, 0o440) }
    func open() throws { try change(isImmutable: false, 0o640) }

    private func change(isImmutable: Bool, _ mode: Int) throws {
        for path in paths {
            guard geteuid() == 0 else {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                continue
            }
            // FS_IOC_GETFLAGS, FS_IOC_SETFLAGS and FS_IMMUTABLE_FL of linux/fs.h.
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
            defer { Glibc.close(descriptor) }
            var flags: CInt = 0
            guard ioctl(descriptor, UInt(0x8008_6601), &flags) == 0 else { throw CocoaError(.fileWriteNoPermission) }
            flags = isImmutable ? flags | 0x10 : flags & ~0x10
            guard ioctl(descriptor, UInt(0x4008_6602), &flags) == 0 else { throw CocoaError(.fileWriteNoPermission) }
        }
    }
}
