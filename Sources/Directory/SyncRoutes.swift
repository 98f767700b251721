// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET` and `POST mobile/branding/sync`, and `GET mobile/branding/lookup`.
struct SyncRoutes: Sendable {
    let database: DirectoryDatabase
    let logos: LogoAddress
    let now: @Sendable () -> Int64

    /// The whole active set, or with `since` what changed after it; streamed, so that its size does not matter.
    ///
    /// With `include_inactive=true` an incremental answer also says what is out of use. Other clients never see
    /// `is_active`, which the published schema does not have; they learn it from their next full answer.
    func sync(_ request: Request, _ context: AccountContext) async throws -> Response {
        let query = try SyncQuery(request)
        let now = now()
        let state = try await SyncState.current(
            database, account: context.account, logoBase: logos.base(), now: now)
        let tag = state.tag(query: query.parts)
        // Kept by clients, asked for again each time: a closed gate must be seen at once.
        var headers: HTTPFields = [.eTag: tag, .cacheControl: "private, no-cache", .vary: "Accept-Encoding"]
        let modified = state.modified <= now ? state.modified : nil
        headers[.lastModified] = modified.map(HTTPDate.text)
        let deliveries = SyncDeliveries(database, account: context.account)
        if ConditionalRequest.holds(tag, modified: modified, request) {
            try await deliveries.noteUnchanged(now: now)
            return Response(status: .notModified, headers: headers)
        }
        let feed = try await ChangeFeed(
            database, account: context.account, device: query.device, since: query.since,
            includesInactive: query.includesInactive, now: now)
        headers[.contentType] = Answers.jsonType
        let isPacked = AcceptEncoding.takesGzip(request)
        if isPacked { headers[.contentEncoding] = "gzip" }
        return Response(
            status: .ok, headers: headers,
            body: .init { [self] writer in
                var writer: any ResponseBodyWriter = isPacked ? try GzipWriter(writer) : writer
                let entries = try await write(feed, to: &writer)
                try await writer.finish(nil)
                try await deliveries.noteDelivered(entries: entries, now: now)
            })
    }

    /// Writes an answer page by page.
    ///
    /// - Returns: how many entries it had.
    @concurrent
    private func write(_ feed: ChangeFeed, to writer: inout any ResponseBodyWriter) async throws -> Int {
        var entries = 0
        let encoder = Answers.encoder()
        var buffer = ByteBuffer(string: #"{"success":true,"synced_at":"\#(feed.cursor.text)","config":"#)
        buffer.writeBytes(try encoder.encode(feed.config))
        buffer.writeString(#","branding":["#)
        var page = try await feed.page(after: nil)
        while !page.items.isEmpty {
            entries += page.items.count
            // The page as an array, without its brackets.
            buffer.writeBytes(try encoder.encode(page.items.map(logos.resolved)).dropFirst().dropLast())
            page = try await feed.page(after: page.last)
            if !page.items.isEmpty { buffer.writeString(",") }
            try await writer.write(buffer)
            buffer.clear()
        }
        buffer.writeString("]}")
        try await writer.write(buffer)
        return entries
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
        guard let text = QueryText.read("e164", of: request), let number = E164Number(text) else {
            throw Refusal.badRequest("e164 must be a number such as %2B61491570156")
        }
        let (found, config) = try await BrandEntries(database, account: context.account).lookup(number, now: now())
        let item = found.map(logos.resolved)
        if request.uri.queryParameters["format"] == "public" {
            return try Answers.json(PublicLookupResponse(item))
        }
        return try Answers.json(LookupResponse(e164: number.description, item: item, config: config))
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
