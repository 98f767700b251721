// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ChildPrograms
import Foundation
import GRDB
import GatewayStore
import GatewayTesting
import Host
import TestFixtures
import Testing
import Trust
import TrustFixtures

@testable import GatewayOperator

@Suite("Signers in memory", .timeLimit(.minutes(8)))
struct TrustPublisherTests {
    private let fixture = SignerFixture()
    private var lab: TrustLab { fixture.lab }

    @Test func `without a file no signer is known, and nothing is warned of`() async {
        let publisher = fixture.publisher()
        await publisher.look()
        #expect(fixture.snapshot.count == 0)
        #expect(fixture.log.all.allSatisfy { $0.hasPrefix("debug no signers of calls are stored yet") })
        #expect(await publisher.problem == nil)
    }

    @Test func `the first call finds the stored signers`() async throws {
        try await fixture.importSigners(["spc", "alien"])
        let publisher = fixture.publisher()
        #expect(fixture.snapshot.signer(at: fixture.address("spc"))?.standings == [.passed])
        #expect(fixture.snapshot.signer(at: fixture.address("alien"))?.standings == [.untrustedSigner])
        #expect(fixture.snapshot.regimeSet == RegimeSet.number(of: ["private"]))
        #expect(await publisher.figures?.signers == 2)
        #expect(fixture.log.all.isEmpty, "\(fixture.log.text)")
    }

    @Test func `an import of another process is published, also the first one`() async throws {
        let publisher = fixture.publisher()
        for (count, name) in ["spc", "delegate", "alien"].enumerated() {
            try await fixture.importSigners([name])
            await publisher.look()
            #expect(fixture.snapshot.count == count + 1)
            #expect(fixture.snapshot.signer(at: fixture.address(name)) != nil)
        }
        let item = try #require(lab.cases.first { $0.id == "c01" })
        #expect(try fixture.verdict(on: item).number == .passed(.a))
    }

    @Test func `an unchanged file and addresses alone leave the signers of the call path as they are`() async throws {
        try await fixture.importSigners(["spc"])
        let publisher = fixture.publisher()
        await publisher.look()
        let known = fixture.current.load()
        let store = try SignerStore(folder: fixture.state)
        _ = try await store.add(unknown: ["https://a.example/1.pem"], at: 1, limit: 100)
        await publisher.look()
        #expect(fixture.current.load() === known)
        #expect(await publisher.figures?.unknown == 1)
        try store.close()
    }

    @Test func `other contents of an anchor leave the policies of the gateway in use`() async throws {
        try await fixture.importSigners(["spc"])
        let publisher = fixture.publisher()
        _ = try fixture.configuration()
        try fixture.folder.write(lab.pem("alien_root"), to: "regimes/other.pem")
        try fixture.folder.write("anchors: [other.pem]\nkeys: p256_rsa\n", to: "regimes/private.yaml")
        try await fixture.importSigners([])
        await publisher.look()
        #expect(fixture.snapshot.regimeSet == RegimeSet.number(of: ["private"]))
        #expect(fixture.snapshot.signer(at: fixture.address("spc"))?.standings == [.untrustedSigner])
        #expect(await publisher.problem == nil)
    }

    @Test func `an import with other regimes is published, and the log has the remedy`() async throws {
        try await fixture.importSigners(["spc"])
        let publisher = fixture.publisher()
        let item = try #require(lab.cases.first { $0.id == "c01" })
        #expect(try fixture.verdict(on: item).number == .passed(.a))
        try await fixture.importSigners([], "{regimes: [fr, private]}")
        for _ in 0..<3 { await publisher.look() }
        #expect(try fixture.verdict(on: item).causes == [.signerNotYetKnown])
        let warnings = fixture.log.take().filter { $0.hasPrefix("warning") }
        #expect(warnings.count == 1)
        #expect(
            warnings.first?.contains(
                "are decided for fr, private, and this gateway has the regimes private: no signed call finds its signer; "
                    + "restart herald, or run herald trust import with its configuration") == true, "\(warnings)")
        #expect(await publisher.problem != nil)
        try await fixture.importSigners([])
        await publisher.look()
        #expect(try fixture.verdict(on: item).number == .passed(.a))
        #expect(await publisher.problem == nil)
    }

    @Test func `a damaged file leaves the former signers in use, with one line a time`() async throws {
        try await fixture.importSigners(["spc"])
        let publisher = fixture.publisher()
        await publisher.look()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.file))
        // As a copy that replaces it: the pages of the open file stay whole.
        try fixture.folder.write(Array(repeating: UInt8(0x55), count: bytes.count), to: "damaged")
        for ending in ["-wal", "-shm"] { unlink(fixture.file + ending) }
        rename(fixture.folder.path + "/damaged", fixture.file)
        for _ in 0..<3 {
            await publisher.look()
            fixture.time.advance(by: .seconds(20))
        }
        #expect(fixture.snapshot.signer(at: fixture.address("spc")) != nil)
        let warnings = fixture.log.take().filter { $0.hasPrefix("warning") }
        #expect(warnings.count == 1 && warnings[0].contains("cannot be read"), "\(warnings)")
        #expect(warnings.allSatisfy { $0.contains(fixture.file) && $0.contains("move the file away") })
        unlink(fixture.file)
        try await fixture.importSigners(["delegate"])
        fixture.time.advance(by: .seconds(20))
        await publisher.look()
        #expect(fixture.snapshot.count == 1 && fixture.snapshot.signer(at: fixture.address("delegate")) != nil)
        #expect(await publisher.problem == nil)
    }

    @Test func `a damaged file at the start is a warning and no end`() async throws {
        try FileManager.default.createDirectory(atPath: fixture.state, withIntermediateDirectories: true)
        try fixture.folder.write(Array(repeating: UInt8(0x55), count: 8192), to: "state/signers.sqlite")
        let publisher = fixture.publisher()
        #expect(fixture.snapshot.count == 0)
        let problem = try #require(await publisher.problem)
        #expect(
            problem.hasPrefix("the signers of calls cannot be read, and no signed call finds its signer: "),
            "\(problem)")
        // The cause and the remedy are those of each command.
        let failure = #expect(throws: CommandFailure.self) { try StoredTrust.read(fixture.state) }
        #expect(failure.map { problem.hasSuffix(": \($0)") } == true, "\(problem)")
    }

    /// Writes the log of the database into its file.
    private func writeLog() throws {
        let queue = try DatabaseQueue(path: fixture.file)
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try queue.close()
    }

    /// Damage behind the first page, as a bad block makes it: the file opens, and its tables cannot be read.
    @Test func `damage inside the file has the same text everywhere`() async throws {
        try await fixture.importSigners(["spc", "delegate", "two-spc"])
        try writeLog()
        let publisher = fixture.publisher()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.file))
        bytes.replaceSubrange(4096..., with: Data(repeating: 0x55, count: bytes.count - 4096))
        for ending in ["", "-wal", "-shm"] { unlink(fixture.file + ending) }
        try fixture.folder.write(Array(bytes), to: "state/signers.sqlite")
        fixture.time.advance(by: .seconds(20))
        await publisher.look()
        let expected = "\(fixture.file) is damaged: "
        let problem = try #require(await publisher.problem)
        #expect(problem.hasPrefix("the signers of calls cannot be read, and the former ones stay in use: \(expected)"))
        let read = #expect(throws: CommandFailure.self) { try StoredTrust.read(fixture.state) }
        #expect(read.map { "\($0)".hasPrefix(expected) } == true, "\(String(describing: read))")
        let change = await #expect(throws: (any Error).self) { try await fixture.importSigners(["alone"]) }
        #expect(change.map { "\($0)".hasPrefix(expected) } == true, "\(String(describing: change))")
    }

    @Test func `a file that is gone leaves the former signers in use`() async throws {
        try await fixture.importSigners(["spc"])
        let publisher = fixture.publisher()
        for ending in ["", "-wal", "-shm"] { unlink(fixture.file + ending) }
        await publisher.look()
        #expect(fixture.snapshot.count == 1)
    }

    @Test func `a writer that is killed inside its transaction changes nothing`() async throws {
        try await fixture.importSigners(["spc", "delegate"])
        let publisher = fixture.publisher()
        let script = """
            import os, signal, sqlite3, sys
            database = sqlite3.connect(sys.argv[1], isolation_level=None)
            database.execute("PRAGMA cache_size = 1")
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM signer")
            database.execute("UPDATE state SET generation = generation + 1")
            for number in range(2000):
                database.execute("INSERT INTO unknown_address VALUES (?, 1)", (f"https://a.example/{number}.pem",))
            os.kill(os.getpid(), signal.SIGKILL)
            """
        let writer = try await ChildProgram.run("python3", ["-c", script, fixture.file])
        #expect(writer.code == -1, "\(writer.errors)")
        await publisher.look()
        #expect(fixture.snapshot.count == 2)
        #expect(await publisher.figures?.unknown == 0)
        try await fixture.importSigners(["alien"])
        await publisher.look()
        #expect(fixture.snapshot.count == 3 && fixture.log.all.isEmpty, "\(fixture.log.text)")
    }
}
