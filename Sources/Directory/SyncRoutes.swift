// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Foundation
import Hummingbird
import NIOCore

/// `GET` and `POST mobile/branding/sync`, and `GET mobile/branding/lookup`.
struct SyncRoutes: Sendable {
    let database: DirectoryDatabase
    let logos: LogoAddress
    let now: @Sendable () -> Int64

    /// The whole active set, or with `since` what changed after it; streamed, so that its size does not matter.
    func sync(_ request: Request, _ context: AccountContext) async throws -> Response {
        let since = try text("since", of: request).map { text in
            guard let cursor = SyncCursor(text) else { throw Refusal.badRequest("since is no ISO 8601 time") }
            return cursor
        }
        let feed = try await ChangeFeed(database, account: context.account, since: since, now: now())
        return Response(
            status: .ok, headers: [.contentType: Answers.jsonType, .cacheControl: "no-store"],
            body: .init { writer in
                try await write(feed, to: &writer)
                try await writer.finish(nil)
            })
    }

    /// Writes an answer page by page.
    @concurrent
    private func write(_ feed: ChangeFeed, to writer: inout any ResponseBodyWriter) async throws {
        let encoder = Answers.encoder()
        var buffer = ByteBuffer(string: #"{"success":true,"synced_at":"\#(feed.cursor.text)","config":"#)
        buffer.writeBytes(try encoder.encode(feed.config))
        buffer.writeString(#","branding":["#)
        var page = try await feed.page(after: nil)
        while !page.items.isEmpty {
            // The page as an array, without its brackets.
            buffer.writeBytes(try encoder.encode(page.items.map(logos.resolved)).dropFirst().dropLast())
            page = try await feed.page(after: page.last)
            if !page.items.isEmpty { buffer.writeString(",") }
            try await writer.write(buffer)
            buffer.clear()
        }
        buffer.writeString("]}")
        try await writer.write(buffer)
    }

    /// The optional acknowledgement; it is answered and changes nothing.
    func acknowledge(_ request: Request) async throws -> Response {
        let body = try await Answers.body(
            SyncAcknowledgement.self, of: request, fields: ["last_synced_at", "e164_numbers", "device_id"])
        return try Answers.json(Acknowledged(last_synced_at: body.lastSyncedAt))
    }

    private struct Acknowledged: Encodable {
        var success = true
        var last_synced_at: String
    }

    /// One number, for a client that missed it in its copy.
    func lookup(_ request: Request, _ context: AccountContext) async throws -> Response {
        guard let text = text("e164", of: request), let number = E164Number(text) else {
            throw Refusal.badRequest("e164 must be a number such as %2B61491570156")
        }
        let (found, config) = try await BrandEntries(database, account: context.account).lookup(number, now: now())
        let item = found.map(logos.resolved)
        if request.uri.queryParameters["format"] == "public" {
            return try Answers.json(PublicLookupResponse(item))
        }
        return try Answers.json(LookupResponse(e164: number.description, item: item, config: config))
    }

    /// A query parameter; nil when it is missing or empty.
    ///
    /// Many clients leave the plus sign of a number or a time offset bare, and a bare plus in a query is a blank.
    private func text(_ name: Substring, of request: Request) -> String? {
        guard let value = request.uri.queryParameters[name], !value.isEmpty else { return nil }
        return String(value).replacing(" ", with: "+")
    }
}

/// Where clients find logos: an entry may name a file of this server instead of a URL.
struct LogoAddress: Sendable {
    /// The server's own URL without a slash at its end; nil when it has no logos to give.
    let base: @Sendable () -> String?

    func resolved(_ item: BrandingItem) -> BrandingItem {
        guard let logo = item.logoURL, !logo.contains("://") else { return item }
        var item = item
        item.logoURL = base().map { "\($0)/logos/\(logo)" }
        return item
    }
}
