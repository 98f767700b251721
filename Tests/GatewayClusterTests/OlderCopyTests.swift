// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GRDB
import GatewayStore
import PostgreSQL
import PostgreSQLTesting
import Testing

@testable import GatewayCluster

/// Requirements: an older copy of the file, under the same name, loses no call in the shared ledger and overwrites none.
///
/// Snapshots of machines and `cp` make such copies, and nobody marks them.
@Suite("An older copy of the ledger's file")
struct OlderCopyTests {
    private let shared: SharedDatabase

    init() throws { shared = try SharedDatabase() }

    /// Calls with an end and an event.
    private func calls(_ ids: ClosedRange<Int64>, _ name: String, in ledger: LocalLedger) throws {
        for id in ids {
            try ledger.begin(id, callID: "\(name) \(id)")
            try ledger.end(id)
        }
    }

    /// All calls of the view, sorted.
    private func shown() throws -> [String] {
        try shared.look.execute("SELECT call_id FROM ledger.calls ORDER BY call_id").map { try $0.text(0) ?? "" }
    }

    private func files() throws -> Int64? { try shared.integer("SELECT count(*) FROM ledger.position") }

    /// A ledger with three calls, its copy, and then two calls more that the shared ledger has.
    private func copied() throws -> String {
        let original = try LocalLedger()
        try calls(1...3, "common", in: original)
        _ = try shared.shipper(original).ship()
        let copy = try original.backup()
        try calls(4...5, "lost", in: original)
        _ = try shared.shipper(original).ship()
        let kept = NSTemporaryDirectory() + "copy-\(UUID().uuidString).sqlite"
        try FileManager.default.copyItem(atPath: copy, toPath: kept)
        return kept
    }

    /// Fewer changes than were lost, as many, and more: numbers alone do not show the copy.
    @Test(arguments: [Int64(0), 1, 2, 40])
    func `its calls arrive, and those after the copy stay`(count: Int64) throws {
        let copy = try copied()
        defer { unlink(copy) }
        let ledger = try LocalLedger(restoring: copy)
        if count > 0 { try calls(4...3 + count, "new", in: ledger) }
        let log = LogLines()
        let shipper = shared.shipper(ledger, log: log)
        #expect(try shipper.ship().isCaughtUp)
        try calls(60...61, "later", in: ledger)
        #expect(try shipper.ship().isCaughtUp)
        let expected =
            (1...3).map { "common \($0)" } + (4...5).map { "lost \($0)" } + (60...61).map { "later \($0)" }
            + (count > 0 ? (4...3 + count).map { "new \($0)" } : [])
        #expect(try shown() == expected.sorted())
        #expect(try files() == 2, "a new ledger number")
        #expect(log.all.contains { $0.contains("warning the ledger's file is an older copy") }, "\(log.all)")
    }

    @Test func `it is found also after starts without PostgreSQL, when it has more changes than the lost file`() throws
    {
        let copy = try copied()
        defer { unlink(copy) }
        let first = try LocalLedger(restoring: copy)
        try calls(4...30, "first start", in: first)
        let second = try first.openAgain()
        try calls(31...50, "second start", in: second)
        #expect(try shared.shipper(second).ship().isCaughtUp)
        let all = try shown()
        #expect(all.count == 3 + 2 + 47, "\(all.count)")
        #expect(Set(all).count == all.count)
        #expect(try files() == 2)
    }

    @Test func `a copy put back under the running gateway is found too`() throws {
        let original = try LocalLedger()
        let shipper = shared.shipper(original)
        try calls(1...3, "common", in: original)
        _ = try shipper.ship()
        let copy = try original.backup()
        try calls(4...9, "lost", in: original)
        _ = try shipper.ship()
        // The recorder opens the file again once it was replaced.
        try original.replaceFile(by: copy)
        try calls(4...5, "new", in: original)
        #expect(try shipper.ship().isCaughtUp)
        #expect(
            try shown()
                == ((1...3).map { "common \($0)" } + (4...9).map { "lost \($0)" } + (4...5).map { "new \($0)" })
                .sorted())
    }

    @Test func `open calls and waiting events of the copy go on`() throws {
        let original = try LocalLedger()
        try original.begin(1, callID: "open")
        try original.begin(2, callID: "ended")
        try original.end(2)
        _ = try shared.shipper(original).ship()
        let copy = try original.backup()
        try original.begin(3, callID: "lost")
        _ = try shared.shipper(original).ship()
        let restored = try LocalLedger(restoring: copy)
        let shipper = shared.shipper(restored)
        _ = try shipper.ship()
        try restored.end(1)
        _ = try shipper.ship()
        #expect(try shown() == ["ended", "lost", "open"])
        #expect(try shared.calls { $0.callID = "open" }.map(\.outcome) == ["ANSWERED"])
    }

    @Test func `a file that is no copy keeps its number`() throws {
        var ledger = try LocalLedger()
        for start in Int64(0)..<5 {
            try ledger.begin(start * 10 + 1)
            // Every second start has no PostgreSQL.
            if start % 2 == 0 { _ = try shared.shipper(ledger).ship() }
            try ledger.begin(start * 10 + 2)
            ledger = try ledger.openAgain()
        }
        // The commit is done and the response lost: the server has more than the shipper knows.
        let shipper = shared.shipper(ledger)
        _ = try shipper.ship()
        try ledger.begin(90)
        _ = try shared.shipper(ledger).ship()
        try shared.look.script(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        _ = try? shipper.ship()
        #expect(try shipper.ship().isCaughtUp)
        #expect(try shown().count == 11)
        #expect(try files() == 1)
    }

    @Test func `the copy takes its name over at once`() throws {
        let copy = try copied()
        defer { unlink(copy) }
        // The lost file was written less than a lease ago.
        #expect(try shared.shipper(LocalLedger(restoring: copy)).ship().isCaughtUp)
        #expect(try shared.epoch("a") == 2, "another process with the lost file is fenced")
    }

    @Test func `calls before the first contact with PostgreSQL arrive`() throws {
        let ledger = try LocalLedger()
        try calls(1...20, "before", in: ledger)
        #expect(try shared.shipper(ledger).ship().isCaughtUp)
        #expect(try shown().count == 20)
        #expect(try shared.integer("SELECT count(*) FROM ledger.event") == 20)
    }

    @Test func `so do those of a new file after damage`() throws {
        let ledger = try LocalLedger()
        _ = try shared.shipper(ledger).ship()
        try ledger.replaceFile(by: nil)
        try calls(1...5, "new file", in: ledger)
        try shared.silence("a")
        #expect(try shared.shipper(ledger).ship().isCaughtUp)
        #expect(try shown().count == 5)
    }
}
