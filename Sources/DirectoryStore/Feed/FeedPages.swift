// SPDX-License-Identifier: Apache-2.0

/// A feed and its first page.
package struct FeedStart: Sendable {
    let feed: ChangeFeed
    let page: ChangeFeed.Page
    /// True for the state of a standby.
    fileprivate(set) var isFromReplica = false

    init(_ parameters: ChangeFeed.Parameters, logos: LogoURLs, _ database: any SQLConnection) throws {
        let polled = try PolledAccount(parameters.account, since: parameters.since, now: parameters.now, database)
        try self.init(parameters, polled, logos: logos, database)
    }

    init(
        _ parameters: ChangeFeed.Parameters, _ polled: PolledAccount, logos: LogoURLs, _ database: any SQLConnection
    ) throws {
        var feed = try ChangeFeed(parameters, polled, database)
        page = try feed.page(logos: logos, database)
        feed.end(with: page)
        self.feed = feed
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
        if start.isFromReplica, let replica = database.engine.replica, let snapshot = try? replica.snapshot(),
            let again = try? await snapshot.read({ try FeedStart(parameters, logos: logos, $0) }),
            // Another standby of the same name may lag more.
            again.feed.head.epoch == start.feed.head.epoch, again.feed.head.last >= start.feed.head.last
        {
            (self.start, self.snapshot) = (again, snapshot)
            return
        }
        let snapshot = try database.pool.snapshot()
        self.snapshot = snapshot
        self.start = try await snapshot.read { try FeedStart(parameters, logos: logos, $0) }
    }

    package var feed: ChangeFeed { start.feed }

    package var first: ChangeFeed.Page { start.page }

    /// True for a feed of one page.
    package var isSingle: Bool { snapshot == nil }

    /// The page after another; nil after the last.
    package func page(after page: ChangeFeed.Page) async throws -> ChangeFeed.Page? {
        guard page.last != nil, let snapshot else { return nil }
        return try await snapshot.read { [feed, logos] in try feed.page(after: page, logos: logos, $0) }
    }
}

extension ChangeFeed {
    /// Reads the state of an account and, unless the client holds it, the first page of its feed.
    ///
    /// One read gives both, because most responses are empty or small and gateways poll often. On PostgreSQL it is one
    /// statement for each, without a transaction: a round trip to the server costs more than the statement.
    ///
    /// - Parameter polled: the state of the account if it was read with the key.
    package static func begin(
        _ parameters: Parameters, logos: LogoURLs, in database: DirectoryDatabase, _ polled: PolledAccount? = nil,
        unless isHeld: @escaping @Sendable (FeedState) -> Bool
    ) async throws -> (state: FeedState, start: FeedStart?) {
        if let polled {
            let state = try FeedState.current(polled, parameters.account, logoBase: logos.base, now: parameters.now)
            if isHeld(state) { return (state, nil) }
            return (state, try await database.pool.readEach { try FeedStart(parameters, polled, logos: logos, $0) })
        }
        if let replica = database.engine.replica, let found = await current(parameters, logos, replica, isHeld) {
            return found
        }
        return try await database.pool.readEach { try read(parameters, logos, $0, isHeld) }
    }

    private static func read(
        _ parameters: Parameters, _ logos: LogoURLs, _ database: any SQLConnection,
        _ isHeld: (FeedState) -> Bool
    ) throws -> (state: FeedState, start: FeedStart?) {
        try read(
            parameters, PolledAccount(parameters.account, since: parameters.since, now: parameters.now, database),
            logos,
            database, isHeld)
    }

    private static func read(
        _ parameters: Parameters, _ polled: PolledAccount, _ logos: LogoURLs, _ database: any SQLConnection,
        _ isHeld: (FeedState) -> Bool
    ) throws -> (state: FeedState, start: FeedStart?) {
        let state = try FeedState.current(polled, parameters.account, logoBase: logos.base, now: parameters.now)
        return (state, isHeld(state) ? nil : try FeedStart(parameters, polled, logos: logos, database))
    }

    /// The state of a standby; nil if the primary has to respond.
    ///
    /// A standby that lags must not send a client back to a state before its cursor, and a state that the primary has not
    /// stored has no time yet. A standby that fails is no reason to fail a sync.
    private static func current(
        _ parameters: Parameters, _ logos: LogoURLs, _ replica: any SQLPool,
        _ isHeld: @escaping @Sendable (FeedState) -> Bool
    ) async -> (state: FeedState, start: FeedStart?)? {
        let found = try? await replica.readEach { database -> (state: FeedState, start: FeedStart?)? in
            let polled = try PolledAccount(parameters.account, since: parameters.since, now: parameters.now, database)
            if parameters.since?.isAhead(of: polled.head) == true { return nil }
            let found = try read(parameters, polled, logos, database, isHeld)
            return found.state.isSaved ? found : nil
        }
        guard var found = found ?? nil else { return nil }
        found.start?.isFromReplica = true
        return found
    }
}
