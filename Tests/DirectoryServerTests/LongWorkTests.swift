// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import GRDB
import Host
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("Long work of operators beside requests of gateways", .timeLimit(.minutes(8)))
struct LongWorkTests {
    private static let file = "number,brand_name\n+61491570156,Acme\n"

    /// Holds the write lock of the database on a connection of its own, as a command beside the server does.
    private static func lock(_ database: DirectoryDatabase) async throws -> DispatchSemaphore {
        let release = DispatchSemaphore(value: 0)
        let (taken, take) = AsyncStream<Void>.makeStream()
        let path = database.place
        Thread.detachNewThread {
            try? SQLiteFile.connection(path).inDatabase { connection in
                try connection.inTransaction(.immediate) {
                    take.finish()
                    release.wait()
                    return .rollback
                }
            }
        }
        for await _ in taken {}
        return release
    }

    @Test func `imports and reports that wait leave the health check and events alone`() async throws {
        try await Operator.run { operators in
            let directory = operators.directory
            let release = try await Self.lock(directory.database)
            // More than Swift's tasks have threads.
            let count = ProcessInfo.processInfo.activeProcessorCount + 2
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        try await operators.ask("accounts/main/import", method: "POST", Self.file).status
                    }
                }
                group.addTask { try await operators.ask("reports/2026-01").status }
                while directory.database.longWork.count < count { try await Task.sleep(for: .milliseconds(5)) }
                #expect(try await directory.ask("/healthz").status == 200)
                release.signal()
                let event = try await directory.report("displayed", key: "k1")
                #expect(event.success)
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test func `a stop ends an import that has changed nothing, with a response`() async throws {
        let folder = TemporaryFolder()
        let directory = try await RunningDirectory(folder: folder)
        let operators = Operator(
            directory: directory, key: try AdminKeys(directory.database).create(name: "portal", now: 1))
        let (releases, work) = (DispatchSemaphore(value: 0), directory.database.longWork)
        for _ in 0..<WorkerThreads.longWorks {
            let (taken, take) = AsyncStream<Void>.makeStream()
            Task {
                try await work.run { _ in
                    take.finish()
                    releases.wait()
                }
            }
            for await _ in taken {}
        }
        async let response = operators.ask("accounts/main/import", method: "POST", Self.file)
        // The file that the import waits with.
        while try !FileManager.default.contentsOfDirectory(atPath: directory.database.folder).contains(where: {
            $0.hasSuffix(".part")
        }) { try await Task.sleep(for: .milliseconds(5)) }
        async let stopped: Void = directory.stop()
        let refused = try await response
        #expect(refused.status == 503 && refused.text.contains("nothing was changed"))
        for _ in 0..<WorkerThreads.longWorks { releases.signal() }
        try await stopped
        #expect(try BrandEntries(directory.database).active(limit: 1).isEmpty)
    }

    @Test func `a start completes an import whose server was killed in its merge`() async throws {
        struct Killed: Error {}
        let folder = TemporaryFolder()
        let state = folder.path + "/state"
        let database = try DirectoryDatabase(folder: state)
        let turn = WorkTurn { [database] in
            if try !BrandEntries(database).active(limit: 1).isEmpty { throw Killed() }
        }
        let rows = (0..<1_000).map { "+6149\(1_000_000 + $0),Acme\n" }.joined()
        #expect(throws: BrandImportError.self) {
            try BrandImport(database, turn: turn) { NumberNormaliser(region: nil).normalise(Array($0.utf8)) }
                .run(Array(("number,brand_name\n" + rows).utf8), now: ManualTime.start)
        }
        #expect(try BrandEntries(database).active(limit: 2_000).count < 1_000)
        try await RunningDirectory.run(in: folder) { directory in
            while try BrandEntries(directory.database).active(limit: 2_000).count < 1_000 {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}
