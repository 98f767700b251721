// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI

/// Reads the entries of one sync response page by page, from one state of the database.
///
/// Later changes have a change number above the cursor, so the next sync delivers them, and only once. Full responses
/// have active entries only. Incremental responses also list deactivated entries, if the client asks for them.
package struct ChangeFeed: Sendable {
    /// The cursor for the client's next sync.
    package private(set) var cursor: SyncCursor
    package let config: DirectoryConfig
    /// The end of the feed at the time of its first page.
    let head: ChangeCounter.Head
    private let account: AccountID
    /// Entries up to this change number are left out.
    private let start: Int64
    /// Entries updated before this time, in seconds since 1970, are left out; nil for no such limit.
    private let since: Int64?
    private let includesInactive: Bool
    private let blanksInactive: Bool
    private let isFull: Bool
    private let fields: Set<EntryField>
    private let linkScheme: String?

    private static let pageSize = 1000
    /// Seconds by which a change may be ahead of the request that delivers it: the time of a long poll, and the
    /// difference of two nodes' clocks.
    private static let ahead: Int64 = 60

    /// The parameters of a sync request.
    package struct Parameters: Sendable {
        package let account: AccountID
        package var device: String?
        /// The client's cursor; nil for a full response.
        package var since: SyncCursor?
        package var includesInactive: Bool
        /// True if an incremental response has deactivated entries with an empty name, for a client that does not ask
        /// for them.
        package var blanksInactive = false
        /// The fields of each entry; those that are not optional are always there.
        package var fields = EntryField.all
        /// The scheme of the links to each entry's brand; nil for none.
        package var linkScheme: String?
        /// The directory's `public_url` for a client that gets the template of cards; nil for none.
        package var cardBase: String?
        /// Seconds since 1970.
        package let now: Int64

        package init(
            account: AccountID, device: String? = nil, since: SyncCursor? = nil, includesInactive: Bool = false,
            now: Int64
        ) {
            self.account = account
            self.device = device
            self.since = since
            self.includesInactive = includesInactive
            self.now = now
        }
    }

    /// Entries as JSON objects with commas between them, in UTF-8.
    package struct Page: Sendable {
        package fileprivate(set) var text: [UInt8] = []
        package fileprivate(set) var entries = 0
        /// The last change number of the page; nil on the last page.
        fileprivate(set) var last: Int64?
        /// The last change number of its entries; 0 without any.
        fileprivate var newest: Int64 = 0
        /// The latest time of its entries, in seconds since 1970; 0 without any.
        fileprivate var latest: Int64 = 0
    }

    /// Reads the start; several pages must be read from the same state of the database.
    init(_ parameters: Parameters, _ database: any SQLConnection) throws {
        let polled = try PolledAccount(parameters.account, since: parameters.since, now: parameters.now, database)
        try self.init(parameters, polled, database)
    }

    init(_ parameters: Parameters, _ polled: PolledAccount, _ database: any SQLConnection) throws {
        head = polled.head
        (account, includesInactive) = (parameters.account, parameters.includesInactive)
        blanksInactive = parameters.blanksInactive && !parameters.includesInactive
        var config = polled.config
        config.debugUI = try DebugRequests.debugUI(account, device: parameters.device, now: parameters.now, database)
        if polled.hasCards { config.cardURL = parameters.cardBase.map { CardURL.template(base: $0) } }
        self.config = config.forClients
        cursor = SyncCursor(
            seconds: Self.seconds(parameters.now, with: polled.changed), change: head.last, epoch: head.epoch)
        (start, since) = Self.beginning(parameters, polled)
        isFull = parameters.since == nil
        fields = parameters.fields
        linkScheme = parameters.linkScheme
    }

    private static func beginning(
        _ parameters: Parameters, _ polled: PolledAccount
    ) -> (start: Int64, since: Int64?) {
        guard let asked = parameters.since else { return (-1, nil) }
        // The changes of another epoch include some that were undone, and no time identifies them.
        if asked.isOfOtherEpoch(than: polled.head) { return (-1, nil) }
        guard let change = asked.change(in: polled.head) else { return (-1, asked.seconds) }
        // If the client's last change is newer than its cursor's time, the cursor is from before a restored backup.
        // Only its time is valid then. A change with a future time was made with a wrong clock and proves nothing.
        let isOther = polled.seen.map { $0 > asked.seconds && $0 <= parameters.now } ?? false
        return isOther ? (-1, asked.seconds) : (change, nil)
    }

    /// The time of a cursor: that of the request, or of the last change if it was made meanwhile.
    ///
    /// A cursor that is older than its own change would be taken for one from before a restored backup, and its changes
    /// delivered again. A change far ahead was made with a wrong clock.
    private static func seconds(_ now: Int64, with change: Int64) -> Int64 {
        change > now && change <= now + ahead ? change : now
    }

    /// Moves the cursor to the end of the only page, which may be read from a later state than the head.
    ///
    /// Changes become visible in the order of their numbers, so the page has all up to its last one.
    mutating func end(with page: Page) {
        guard page.last == nil, page.newest > head.last else { return }
        cursor = SyncCursor(
            seconds: Self.seconds(cursor.seconds, with: page.latest), change: page.newest, epoch: head.epoch)
    }

    /// The query has one lower limit only.
    ///
    /// With two, SQLite may choose the wrong one for the index and read a million rows.
    static func pageQuery(_ condition: String) -> String {
        """
        SELECT \(EntryJSONWriter.columns), change FROM brand_number WHERE account = ? AND change > ? \(condition)
        ORDER BY change LIMIT \(pageSize)
        """
    }

    /// The entries after `previous`; nil reads the first page.
    func page(after previous: Page? = nil, logos: LogoURLs, _ database: any SQLConnection) throws -> Page {
        let activity = isFull || !(includesInactive || blanksInactive) ? "AND active" : ""
        let query = Self.pageQuery(activity + (since == nil ? "" : " AND updated >= ?"))
        let bounds = [account.row, previous?.last ?? start] + (since.map { [$0] } ?? [])
        var (page, last) = (Page(), Int64(0))
        var text = EntryJSONWriter(
            logos: logos, blanksInactive: blanksInactive, fields: fields, linkScheme: linkScheme)
        try database.forEach(query, SQLArguments(bounds.map { .integer($0) })) { row in
            if page.entries > 0 { page.text.append(UInt8(ascii: ",")) }
            text.write(row, to: &page.text)
            last = row[EntryJSONWriter.columnCount]
            let updated: Int64 = row[EntryJSONWriter.timeColumn]
            page.latest = max(page.latest, updated)
            page.entries += 1
        }
        (page.last, page.newest) = (page.entries == Self.pageSize ? last : nil, last)
        return page
    }
}
