// SPDX-License-Identifier: Apache-2.0

import DirectoryFixtures
import Foundation
import Host
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("An import that takes longer than a page waits", .timeLimit(.minutes(8)))
struct ImportProgressTests {
    private static let text = "number,brand_name,logo_url,call_reason,brand_id\n+61491570156,Acme,,,b1\n"

    /// Loads a page until it has a text.
    private static func page(_ path: String, with text: String, _ visitor: PageVisitor) async throws -> String {
        while true {
            let page = try await visitor.get(path)
            let found = page.status == 303 ? try await visitor.follow(page) : page
            if found.text.contains(text) { return found.text }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Takes all turns of long work until the semaphore is signalled, once for each.
    private static func occupy(_ database: DirectoryDatabase) async throws -> [DispatchSemaphore] {
        let releases = (0..<WorkerThreads.longWorks).map { _ in DispatchSemaphore(value: 0) }
        for release in releases {
            let (taken, take) = AsyncStream<Void>.makeStream()
            Task {
                try await database.longWork.run { _ in
                    take.finish()
                    release.wait()
                }
            }
            for await _ in taken {}
        }
        return releases
    }

    @Test func `its page shows the progress, then the preview, then the result`() async throws {
        try await PageVisitor.run(edit: { $0.importPatience = .zero }) { visitor in
            // Other long work has the machine, so the import has no turn.
            let releases = try await Self.occupy(visitor.directory.database)
            let sent = try await visitor.post("/accounts/main/import/text", ["text": Self.text])
            let path = try #require(sent.headers["location"])
            let page = try await Self.page(path, with: "The first lines are being read", visitor)
            #expect(page.contains("data-live=\"\(path)/progress\"") && page.contains("<progress max=\"100\">"))
            #expect(!page.contains("Import these changes"))
            for release in releases { release.signal() }
            _ = try await Self.page(path, with: "Import these changes", visitor)
            let confirmed = try await visitor.post(path)
            let next = try #require(confirmed.headers["location"])
            let done = try await Self.page(next, with: "1 number added or changed", visitor)
            #expect(done.contains("Acme"))
        }
    }

    @Test func `a file that is being read can be cancelled, which changes nothing and frees its slot`() async throws {
        try await PageVisitor.run(edit: { $0.importPatience = .zero }) { visitor in
            let releases = try await Self.occupy(visitor.directory.database)
            let sent = try await visitor.post("/accounts/main/import/text", ["text": Self.text])
            let path = try #require(sent.headers["location"])
            let page = try await Self.page(path, with: "Cancel the import", visitor)
            #expect(page.contains("action=\"\(path)/cancel\""))
            let cancelled = try await visitor.follow(try await visitor.post(path + "/cancel"))
            #expect(cancelled.text.contains("Nothing was imported."))
            for release in releases { release.signal() }
            let gone = try await visitor.get(path)
            #expect(gone.status == 404 && gone.text.contains("or the server was restarted"))
        }
    }

    @Test func `a cancelled work ends at its next progress, and changes that are being made cannot be cancelled`()
        throws
    {
        let work = ImportWork(account: .first, path: "/x", region: nil, options: .init())
        #expect(work.cancel())
        #expect(throws: CancellationError.self) { try work.advance(to: .reading(1, of: 4)) }
        let folder = TemporaryFolder()
        let database = try DirectoryDatabase(folder: folder.path + "/state")
        let confirmed = ImportWork(account: .first, path: "/x", region: nil, options: .init())
        var result = BrandImport.Result()
        try database.pool.session { session in
            _ = try EntryStaging(session.connection)
            result.plan = try ImportPlan(.first, replaces: false, session.connection)
        }
        confirmed.end(.previewed(result, hasMoved: false))
        #expect(confirmed.confirm() != nil && !confirmed.cancel())
        try confirmed.advance(to: .merging)
    }

    @Test func `a preview is confirmed once, and progress after the end changes nothing`() throws {
        let work = ImportWork(account: .first, path: "/x", region: nil, options: .init())
        #expect(work.confirm() == nil, "the file is still being read")
        try work.advance(to: .reading(1, of: 4))
        #expect(work.stage.progress == .reading(1, of: 4))
        var result = BrandImport.Result()
        work.end(.previewed(result, hasMoved: false))
        #expect(work.confirm() == nil, "the file has invalid lines")
        let folder = TemporaryFolder()
        let database = try DirectoryDatabase(folder: folder.path + "/state")
        try database.pool.session { session in
            _ = try EntryStaging(session.connection)
            result.plan = try ImportPlan(.first, replaces: false, session.connection)
        }
        work.end(.previewed(result, hasMoved: false))
        #expect(work.confirm() == result.plan?.digest && work.confirm() == nil)
        work.end(.imported(result))
        try work.advance(to: .merging)
        #expect(work.stage.progress == nil)
    }

    @Test func `no more files are read at once than there are slots`() {
        let slots = ImportSlots()
        #expect((0...ImportSlots.most).map { _ in slots.take() } == [true, true, false])
        slots.free()
        #expect(slots.take())
    }
}
