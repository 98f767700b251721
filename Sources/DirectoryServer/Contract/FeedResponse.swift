// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import Foundation
import Hummingbird
import NIOCore

/// The text of a sync response, written page by page.
///
/// The next page is read after the client has read the one before, at most until `ResponseDeadline`.
struct FeedResponse: Sendable {
    let pages: FeedPages

    /// The text of a response of one page; nil for a longer one.
    func whole() throws -> ByteBuffer? {
        guard pages.isSingle else { return nil }
        var buffer = try head()
        buffer.writeString("]}")
        return buffer
    }

    /// The text up to the end of the first page.
    private func head() throws -> ByteBuffer {
        var buffer = ByteBuffer(string: #"{"success":true,"synced_at":"\#(pages.feed.cursor.text)","config":"#)
        buffer.writeBytes(try JSONBody.encoder().encode(pages.feed.config))
        buffer.writeString(#","branding":["#)
        buffer.writeBytes(pages.first.text)
        return buffer
    }

    /// Writes the response page by page.
    ///
    /// - Returns: the count of entries.
    @concurrent
    func write(to writer: inout any ResponseBodyWriter) async throws -> Int {
        var buffer = try head()
        var (page, entries) = (pages.first, pages.first.entries)
        while let next = try await pages.page(after: page) {
            try await writer.write(buffer)
            buffer = next.entries > 0 ? ByteBuffer(string: ",") : ByteBuffer()
            buffer.writeBytes(next.text)
            entries += next.entries
            page = next
        }
        buffer.writeString("]}")
        try await writer.write(buffer)
        return entries
    }
}
