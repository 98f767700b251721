// SPDX-License-Identifier: Apache-2.0

/// A feed and its first page, of one state of the database.
package struct FeedStart: Sendable {
    let feed: ChangeFeed
    let page: ChangeFeed.Page

    init(_ parameters: ChangeFeed.Parameters, logos: LogoURLs, _ database: any SQLConnection) throws {
        feed = try ChangeFeed(parameters, database)
        page = try feed.page(logos: logos, database)
    }
}

/// The pages of one sync response, all of one state of the database.
///
/// A feed of one page is in memory from the start. A longer feed keeps a snapshot on a connection of its own until this
/// value is released, and one page in memory.
package struct FeedPages: Sendable {
    private let start: FeedStart
    private let logos: LogoURLs
    /// Nil for a feed of one page.
    private let snapshot: (any SQLSnapshot)?

    package init(
        _ start: FeedStart, _ parameters: ChangeFeed.Parameters, logos: LogoURLs, _ database: DirectoryDatabase
    ) async throws {
        self.logos = logos
        guard start.page.last != nil else {
            (self.start, snapshot) = (start, nil)
            return
        }
        let snapshot = try database.pool.snapshot()
        self.snapshot = snapshot
        self.start = try await snapshot.read { try FeedStart(parameters, logos: logos, $0) }
    }

    package var feed: ChangeFeed { start.feed }

    package var first: ChangeFeed.Page { start.page }

    /// The page after another; nil after the last.
    package func page(after page: ChangeFeed.Page) async throws -> ChangeFeed.Page? {
        guard page.last != nil, let snapshot else { return nil }
        return try await snapshot.read { [feed, logos] in try feed.page(after: page, logos: logos, $0) }
    }
}

extension ChangeFeed {
    /// Reads the state of an account and, unless the client holds it, the first page of its feed.
    ///
    /// One read gives both, because most responses are empty or small and gateways poll often.
    package static func begin(
        _ parameters: Parameters, logos: LogoURLs, in database: DirectoryDatabase,
        unless isHeld: @escaping @Sendable (SyncState) -> Bool
    ) async throws -> (state: SyncState, start: FeedStart?) {
        try await database.pool.read { database in
            let state = try SyncState.current(parameters.account, logoBase: logos.base, now: parameters.now, database)
            return (state, isHeld(state) ? nil : try FeedStart(parameters, logos: logos, database))
        }
    }
}
