// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import GRDB

/// One sync answer's walk through the entries, page by page, over one unchanging state of the database.
///
/// What changes while it walks has a later change number than its cursor, so it comes with the next sync and not twice.
/// Full answers hold active entries only; incremental ones also say what is no longer active, to clients that asked.
package struct ChangeFeed: Sendable {
    /// Where the client may go on next time.
    package let cursor: SyncCursor
    package let config: DirectoryConfig
    private let account: AccountID
    /// Entries whose last change is this one or before are not asked for.
    private let start: Int64
    /// Seconds since 1970 before which entries are not asked for.
    private let since: Int64?
    private let includesInactive: Bool
    private let isFull: Bool

    private static let pageSize = 1000

    /// Which entries a client asks for, and what it is told beside them.
    package struct Question: Sendable {
        package let account: AccountID
        package var device: String?
        /// Where the client stands; nil for a full answer.
        package var since: SyncCursor?
        package var includesInactive: Bool
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
        /// Where the next page goes on; nil when there is none.
        fileprivate(set) var last: Int64?
    }

    /// Takes the state; every page must be read from the same one.
    init(_ question: Question, _ database: Database) throws {
        let last = try FeedTouch.last(question.account, database)
        (account, includesInactive) = (question.account, question.includesInactive)
        config = try AccountStore.config(of: account, device: question.device, now: question.now, database).asSent
        cursor = SyncCursor(seconds: question.now, change: last)
        (start, since) = try Self.beginning(question, last: last, database)
        isFull = question.since == nil
    }

    private static func beginning(
        _ question: Question, last: Int64, _ database: Database
    ) throws -> (start: Int64, since: Int64?) {
        guard let asked = question.since else { return (-1, nil) }
        guard let change = asked.change(upTo: last) else { return (-1, asked.seconds) }
        // What the client has seen was changed later than it asked, or the cursor is from the future: it is of a database
        // that was there before this one was put back, and only its time still means something.
        let seen = try FeedTouch.time(ofChange: change, question.account, database)
        // A change of the future was made while the clock was wrong, and tells nothing.
        let isOther = seen.map { $0 > asked.seconds && $0 <= question.now } ?? false
        return isOther ? (-1, asked.seconds) : (change, nil)
    }

    /// One bound on the change only: with two SQLite may enter the index at the wrong one and read a million rows.
    static func pageQuery(_ condition: String) -> String {
        """
        SELECT \(EntryText.columns), change FROM brand_number WHERE account = ? AND change > ? \(condition)
        ORDER BY change LIMIT \(pageSize)
        """
    }

    /// The entries behind the page before, which is nil for the first.
    func page(after previous: Page? = nil, logos: LogoURLs, _ database: Database) throws -> Page {
        let activity = isFull || !includesInactive ? "AND active = 1" : ""
        let statement = try database.cachedStatement(
            sql: Self.pageQuery(activity + (since == nil ? "" : " AND updated >= ?")))
        let rows = try Row.fetchCursor(
            statement, arguments: [account.row, previous?.last ?? start] + (since.map { [$0] } ?? []))
        var (page, last, text) = (Page(), Int64(0), EntryText(logos: logos))
        while let row = try rows.next() {
            if page.entries > 0 { page.text.append(UInt8(ascii: ",")) }
            text.write(row, to: &page.text)
            last = row[EntryText.columnCount]
            page.entries += 1
        }
        page.last = page.entries == Self.pageSize ? last : nil
        return page
    }
}
