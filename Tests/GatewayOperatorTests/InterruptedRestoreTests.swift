// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore
import GatewayTesting
import Glibc
import Host
import Synchronization
import Testing

@testable import GatewayOperator

/// A restore whose disk fails, or which is killed, at each of its changes.
@Suite("Interrupted restore of a gateway's state")
struct InterruptedRestoreTests {
    private let gateway: StateFixture
    private var folder: String { gateway.path("backup") }

    /// A backup with three calls and two customers, and a stopped gateway with two more calls and one customer.
    init() throws {
        gateway = try StateFixture()
        try gateway.end(3)
        try gateway.put([4], "customers/account-1f/device-id")
        try gateway.put([5], "customers/account-2f/device-id")
        _ = try StateBackup(state: gateway.state, gateway: "edge").write(to: gateway.path("backup"))
        try gateway.end(2)
        try gateway.stop()
        try FileManager.default.removeItem(atPath: gateway.state + "/customers/account-2f")
        try gateway.put([7], "secret")
        try gateway.put([8], "brands.index")
        // A log that a killed gateway left.
        try gateway.put([9], "herald.sqlite-wal")
    }

    /// Lets changes fail by their place in the order, and keeps the paths of all.
    private final class Failures: Sendable {
        private let seen = Mutex<[String]>([])
        private let fails: @Sendable (Int) -> Bool

        init(_ fails: @escaping @Sendable (Int) -> Bool) { self.fails = fails }

        var paths: [String] { seen.withLock { $0 } }

        var changes: StateChanges {
            StateChanges { path in
                let place = self.seen.withLock { seen in
                    seen.append(path)
                    return seen.count - 1
                }
                return self.fails(place) ? ENOSPC : nil
            }
        }
    }

    private func restore(_ failures: Failures) throws -> StateRestore.Result {
        try StateRestore(state: gateway.state, now: 1_769_860_800, failures.changes).run(from: folder)
    }

    /// The files of the state, without those of a restore.
    private func files() throws -> [String: [UInt8]] {
        try gateway.everything().filter { !$0.key.hasPrefix("replaced-") && !$0.key.hasPrefix("restoring") }
    }

    /// The changes of a whole restore, which is undone again.
    private func changes() throws -> [String] {
        let copy = gateway.path("copy")
        try FileManager.default.copyItem(atPath: gateway.state, toPath: copy)
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let failures = Failures { _ in false }
        _ = try StateRestore(state: copy, now: 0, failures.changes).run(from: folder)
        return failures.paths.map { $0.replacing(copy, with: gateway.state) }
    }

    @Test func `the changes are known: each file is kept, and then each is replaced`() throws {
        let paths = try changes().map { $0.replacing(gateway.state + "/", with: "") }
        #expect(paths.count > 25)
        #expect(paths.first == "restoring" && paths.last == "restoring/plan.json")
        let kept = try #require(paths.lastIndex { $0.hasPrefix("replaced-") })
        #expect(paths.contains("replaced-19700101T000000Z/herald.sqlite-wal"))
        #expect(paths[kept...].dropFirst().first == "herald.sqlite-wal", "no file is replaced before all are kept")
        #expect(paths[kept...].contains("customers/account-2f/device-id"))
    }

    @Test func `a failure of any change puts everything back, and the text has cause and state`() throws {
        let before = try gateway.everything()
        let count = try changes().count
        for place in 0..<count {
            let failures = Failures { $0 == place }
            let error = #expect(throws: BackupProblem.self, "\(place)") { try restore(failures) }
            let path = failures.paths[place]
            let text = error?.description ?? ""
            #expect(text.contains("\(path) cannot be ") && text.contains(": No space left on device; "), "\(text)")
            #expect(
                text.hasSuffix("; nothing was changed") || text.hasSuffix(" files replaced so far were put back"),
                "\(text)")
            #expect(try gateway.everything() == before, "\(place): \(path)")
            let names = try FileManager.default.contentsOfDirectory(atPath: gateway.state)
            #expect(!names.contains { $0.hasPrefix("replaced-") || $0 == "restoring" }, "\(place): \(names)")
        }
        let last = Failures { $0 == count - 1 }
        let error = #expect(throws: BackupProblem.self) { try restore(last) }
        #expect(
            error?.description.hasSuffix("; the 6 files replaced so far were put back") == true,
            "\(error.debugDescription)")
    }

    /// A dead disk is the same as a kill: no later change is made, also none that puts something back.
    @Test func `after a kill at any change a start has the earlier state, and a restore that of the backup`() throws {
        let before = try files()
        let count = try changes().count
        for place in 0..<count {
            let error = #expect(throws: BackupProblem.self) { try restore(Failures { $0 >= place }) }
            let isMixed = try RestorePlan(in: gateway.state) != nil
            let text = error?.description ?? ""
            #expect(
                text.contains("the next herald restore or start of herald puts the earlier ones back") == isMixed,
                "\(text)")
            if isMixed {
                let backup = #expect(throws: BackupProblem.self) {
                    try StateBackup(state: gateway.state, gateway: "edge").write(to: gateway.path("mixed"))
                }
                #expect(backup?.description.hasPrefix("a restore was interrupted: ") == true)
            }
            #expect((try InterruptedRestore.takeBack(in: gateway.state) != nil) == isMixed)
            #expect(try files() == before, "\(place)")
            #expect(try InterruptedRestore.takeBack(in: gateway.state) == nil, "once")
        }
        #expect(throws: BackupProblem.self) { try restore(Failures { $0 >= count - 2 }) }
        let result = try restore(Failures { _ in false })
        #expect(gateway.content("secret") == [1, 2, 3] && gateway.content("customers/account-2f/device-id") == [5])
        #expect(try gateway.accounts()[0] == ["c1", "c2", "c3"])
        let kept = try #require(result.replaced)
        #expect(
            FileManager.default.contents(atPath: kept + "/secret") == Data([7]),
            "the earlier files, not those of the backup")
        #expect(try RestorePlan(in: gateway.state) == nil)
    }

    @Test func `a way back that is interrupted is repeated`() throws {
        let before = try files()
        let count = try changes().count
        var rest = 0
        while true {
            #expect(throws: BackupProblem.self) { try restore(Failures { $0 >= count - 1 }) }
            let failures = Failures { [rest] in $0 == rest }
            let error: BackupProblem?
            do {
                _ = try InterruptedRestore.takeBack(in: gateway.state, failures.changes)
                error = nil
            } catch let problem {
                error = problem
                #expect(problem.description.contains("No space left on device; \(gateway.state) has files of a backup"))
            }
            _ = try InterruptedRestore.takeBack(in: gateway.state)
            #expect(try files() == before, "\(rest)")
            if error == nil { break }
            rest += 1
        }
        #expect(rest > 8)
    }

    @Test func `a reader's log of the new content goes with it`() throws {
        let before = try files()
        let count = try changes().count
        #expect(throws: BackupProblem.self) { try restore(Failures { $0 >= count - 1 }) }
        try gateway.put([1], "brands.sqlite-wal")
        try gateway.put([1], "herald.sqlite-shm")
        #expect(try InterruptedRestore.takeBack(in: gateway.state)?.contains("6 replaced files were put back") == true)
        #expect(try files() == before)
    }

    @Test(arguments: [
        "{}", "x", #"{"format":2,"kept":"replaced-1","files":[]}"#, #"{"format":1,"kept":"replaced-../..","files":[]}"#,
        #"{"format":1,"kept":"replaced-1","files":[{"path":"../x","draft":1,"present":[]}]}"#,
        #"{"format":1,"kept":"replaced-1","files":[{"path":"secret","draft":1,"present":["/etc/passwd"]}]}"#,
    ])
    func `a plan that no restore wrote changes nothing, and the text has the remedy`(plan: String) throws {
        try gateway.put(Array(plan.utf8), RestorePlan.path)
        let before = try gateway.everything()
        let error = #expect(throws: BackupProblem.self) { _ = try InterruptedRestore.takeBack(in: gateway.state) }
        #expect(error?.description.contains("is no plan of a restore; move the files of the latest") == true)
        #expect(throws: BackupProblem.self) { try restore(Failures { _ in false }) }
        #expect(try gateway.everything() == before)
    }

    @Test func `the doctor names an interrupted restore with the remedy`() throws {
        let folder = try GatewayFolder()
        try folder.put(Array("{}".utf8), in: "state/" + RestorePlan.path)
        let findings = DoctorState(try folder.configuration(folder.sections)).findings
        #expect(findings.contains { $0.area == "state" && $0.text.hasPrefix("a restore was interrupted: ") })
    }

    /// Real refusals of the system instead of injected ones.
    @Test func `a folder in the place of a file puts everything back`() throws {
        try FileManager.default.removeItem(atPath: gateway.state + "/secret")
        try FileManager.default.createDirectory(atPath: gateway.state + "/secret", withIntermediateDirectories: false)
        let before = try files()
        let error = #expect(throws: BackupProblem.self) { try restore(Failures { _ in false }) }
        #expect(
            error?.description.contains("/secret cannot be made: Operation not permitted") == true,
            "\(error.debugDescription)")
        #expect(try files() == before)
    }

    @Test(.enabled(if: geteuid() != 0, "root writes into each folder"))
    func `a folder that cannot be written keeps the state`() throws {
        let customer = gateway.state + "/customers/account-1f"
        let before = try files()
        try #require(chmod(customer, 0o500) == 0)
        defer { chmod(customer, 0o700) }
        let error = #expect(throws: BackupProblem.self) { try restore(Failures { _ in false }) }
        #expect(error?.description.contains("Permission denied") == true, "\(error.debugDescription)")
        #expect(try files() == before)
    }
}
