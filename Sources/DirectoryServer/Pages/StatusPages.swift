// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import Primitives
import WebPages

/// The first page, with accounts, feed, disk and backups; disk and backups update themselves.
struct StatusPages: Sendable {
    let desk: PageDesk
    /// The folder of logo files; nil for none.
    let logos: String?
    let publicURL: String?

    var pages: [Page] {
        [
            desk.page(.get, "/", entry: "Status") { try await show($0) },
            desk.page(.get, "/status-live") { request in
                let (database, now) = (request.database, desk.now)
                return .live(
                    LiveParts(every: .seconds(5)) {
                        try await request.blocking { Self.health(database, now: now(), request.zone) }.map {
                            .init(id: $0.partID ?? "", template: "partbody", values: $0)
                        }
                    })
            },
        ]
    }

    private func show(_ request: OperatorRequest) async throws -> PageResult {
        let (database, now) = (request.database, request.now)
        var parts = Self.health(database, now: now, request.zone)
        do {
            let (accounts, feeds) = try await request.blocking {
                let list = AccountList(database)
                let accounts = try list.all(now: now)
                let feeds = try accounts.map {
                    ($0.name, try FeedSummary(database, account: try list.find($0.name), now: now))
                }
                return (accounts, feeds)
            }
            parts.insert(PagePart(table: AccountPages.table(accounts)), at: 1)
            parts.insert(PagePart(table: Self.table(feeds, request.zone)), at: 2)
        } catch {
            // The page must come up to show the trouble.
            guard let trouble = database.trouble(of: error) else { throw error }
            parts[0].notices.append(.error("Accounts cannot be read. " + trouble))
        }
        if let logos, let problem = LogoFolder(path: logos).files(known: [:]) == nil ? logos : nil {
            parts[0].notices.append(
                .warning(
                    "\(problem) of logos: cannot be read, so its logos stay as they are. Check mount and permissions."))
        }
        return OperatorRequest.result("Status", parts: parts, live: "/status-live")
    }

    private static func table(_ feeds: [(String, FeedSummary)], _ zone: LocalZone) -> PageTable {
        var table = PageTable(
            "Feed to gateways and phones",
            ["Account", "#Brands", "#Numbers", "#Held back", "Last change", "#Syncs today", "#Unchanged today"],
            empty: "There is no account.")
        for (name, feed) in feeds {
            table.add(
                .text(name), .count(feed.brands), .count(feed.active), .count(feed.held),
                zone.cell(feed.changed), .count(feed.deliveredToday),
                .count(feed.unchangedToday))
        }
        return table
    }

    /// Problems, then disk and backups.
    private static func health(_ database: DirectoryDatabase, now: Int64, _ zone: LocalZone) -> [PagePart] {
        let health = database.health(now: now)
        var problems = PagePart(partID: "problems")
        problems.notices =
            health.problems.isEmpty
            ? [.done("Disk, database and clock work.")] : health.problems.map { .error($0) }
        let share = health.total.flatMap { total in
            health.free.map { "of \(Amount.bytes(total)), \($0 * 100 / max(total, 1)) %" }
        }
        var disk = PagePart.tiles(
            [
                .init("Free disk space", health.free.map { Amount.bytes($0) } ?? "unknown", share),
                .init(
                    "Database", Amount.bytes(health.databaseBytes), "write-ahead log \(Amount.bytes(health.logBytes))"),
            ], heading: "Disk")
        disk.partID = "disk"
        disk.texts = ["Database: \(database.place)", "State folder: \(database.folder)"]
        guard !database.isShared else {
            var server = PagePart(partID: "backups", heading: "Server and backups")
            server.texts =
                health.serverTexts
                + ["Back up the PostgreSQL server with pg_dump, pg_basebackup or its archive."]
            return [problems, disk, server]
        }
        var table = PageTable(
            "Backups in the state folder", ["File", "Size", "Written"],
            empty:
                "None. Make one with: herald-directory backup \(database.folder)/backup.sqlite. Backups elsewhere do not appear here."
        )
        for backup in health.backups {
            table.add(
                .text(backup.name), .text(Amount.bytes(backup.bytes)),
                zone.cell(Timestamp.string(from: backup.written)))
        }
        return [problems, disk, PagePart(partID: "backups", heading: "Backups", table: table)]
    }
}
