// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import GRDB
import Hummingbird
import NIOCore

/// A feed and its first page, of one state of the database.
struct FeedStart: Sendable {
    let feed: ChangeFeed
    let page: ChangeFeed.Page

    init(_ question: ChangeFeed.Question, logos: LogoURLs, _ database: Database) throws {
        feed = try ChangeFeed(question, database)
        page = try feed.page(logos: logos, database)
    }
}

/// The text of a sync answer.
///
/// An answer of one page is there when it begins. A longer one keeps its state of the database for as long as the client
/// reads, at most until `AnswerDeadline`, on a connection of its own, and one page in memory: the next is read when the
/// client took the one before.
struct FeedAnswer: Sendable {
    private let start: FeedStart
    private let logos: LogoURLs
    /// Nil for an answer of one page.
    private let snapshot: DatabaseSnapshot?

    init(
        _ start: FeedStart, _ question: ChangeFeed.Question, logos: LogoURLs, _ database: DirectoryDatabase
    ) async throws {
        self.logos = logos
        guard start.page.last != nil else {
            (self.start, snapshot) = (start, nil)
            return
        }
        let snapshot = try database.pool.makeSnapshot()
        self.snapshot = snapshot
        self.start = try await snapshot.read { try FeedStart(question, logos: logos, $0) }
    }

    /// Writes it page by page.
    ///
    /// - Returns: how many entries it had.
    @concurrent
    func write(to writer: inout any ResponseBodyWriter) async throws -> Int {
        var (page, entries) = (start.page, start.page.entries)
        var buffer = ByteBuffer(string: #"{"success":true,"synced_at":"\#(start.feed.cursor.text)","config":"#)
        buffer.writeBytes(try Answers.encoder().encode(start.feed.config))
        buffer.writeString(#","branding":["#)
        buffer.writeBuffer(&page.text)
        while page.last != nil, let snapshot {
            try await writer.write(buffer)
            page = try await snapshot.read { [page] in try start.feed.page(after: page, logos: logos, $0) }
            entries += page.entries
            buffer = page.entries > 0 ? ByteBuffer(string: ",") : ByteBuffer()
            buffer.writeBuffer(&page.text)
        }
        buffer.writeString("]}")
        try await writer.write(buffer)
        return entries
    }
}
