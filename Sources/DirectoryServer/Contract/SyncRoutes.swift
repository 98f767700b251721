// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import ConfigurationFiles
import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET` and `POST mobile/branding/sync`, and `GET mobile/branding/lookup`.
struct SyncRoutes: Sendable {
    let database: DirectoryDatabase
    let logos: @Sendable () -> LogoURLs
    let clients: @Sendable () -> ClientSettings
    let links: ClientLinks
    let now: @Sendable () -> Int64
    let lost: BestEffortWrites
    let counters: ServerCounters

    /// Streams all active entries, or with `since` the changes after it.
    ///
    /// With `include_inactive=true` an incremental response also lists deactivated entries. Other clients never get
    /// `is_active`, which the published schema does not have; their next full response leaves such entries out. Until
    /// then phones can get such an entry with an empty name (`blanksRemovedNumbers`).
    func sync(_ request: Request, _ context: AccountContext) async throws -> Response {
        var query = try SyncQuery(request)
        let (now, logos) = (now(), logos())
        var parameters = ChangeFeed.Parameters(
            account: context.account, device: query.device, since: query.since,
            includesInactive: query.includesInactive, now: now)
        parameters.fields = query.fields
        parameters.blanksInactive = context.caller.kind == .phone && clients().blanksRemovedNumbers
        (parameters.linkScheme, parameters.cardBase) = (links.scheme(for: request), links.cardBase(for: request))
        // Responses to other clients keep their tags.
        query.parts += [parameters.linkScheme, parameters.cardBase].compactMap(\.self)
        let asked = query
        var (state, start) = try await ChangeFeed.begin(
            parameters, logos: logos, in: database, context.polled
        ) { state in
            state.isSaved && state.isHeld(by: request, asked, now: now)
        }
        if !state.isSaved {
            let saved = await lost.attempt("the time of a new state") { [state] in
                try await state.saved(for: context.account, database, now: now)
            }
            state = saved ?? state
        }
        // Clients may store the response and must revalidate it each time, because a closed gate must take effect at
        // once.
        var headers: HTTPFields = [
            .eTag: state.tag(query: query.parts), .cacheControl: "private, no-cache",
            .vary: "Accept-Encoding, X-Client-Type",
        ]
        headers[.lastModified] = state.visibleTime(now: now).map(HTTPDate.text)
        let deliveries = SyncDeliveries(database, account: context.account)
        guard let found = start, !state.isHeld(by: request, query, now: now) else {
            counters.add(.unchanged)
            deliveries.recordUnchanged(now: now)
            return Response(status: .notModified, headers: headers)
        }
        counters.add(query.since == nil ? .full : .delta)
        let feed = FeedResponse(pages: try await FeedPages(found, parameters, logos: logos, database))
        headers[.contentType] = JSONBody.mediaType
        let isPacked = AcceptEncoding.takesGzip(request)
        if isPacked { headers[.contentEncoding] = "gzip" }
        if !isPacked, let whole = try feed.whole() {
            let body = self.body(whole, entries: feed.pages.first.entries, deliveries, now: now)
            return Response(status: .ok, headers: headers, body: body)
        }
        return Response(
            status: .ok, headers: headers, body: body(feed, isPacked: isPacked, deliveries, now: now))
    }

    /// Sends a whole feed, with its length, and counts its delivery after the last byte.
    private func body(_ text: ByteBuffer, entries: Int, _ deliveries: SyncDeliveries, now: Int64) -> ResponseBody {
        ResponseBody(contentLength: text.readableBytes) { writer in
            try await writer.write(text)
            try await writer.finish(nil)
            await count(entries, deliveries, now: now)
        }
    }

    private func count(_ entries: Int, _ deliveries: SyncDeliveries, now: Int64) async {
        await lost.attempt("the count of a delivery") {
            try await deliveries.recordDelivery(entries: entries, now: now)
        }
    }

    /// Streams a feed and counts its delivery after the last byte.
    private func body(
        _ feed: FeedResponse, isPacked: Bool, _ deliveries: SyncDeliveries, now: Int64
    ) -> ResponseBody {
        ResponseBody { writer in
            var writer: any ResponseBodyWriter = isPacked ? try GzipWriter(writer) : writer
            let entries = try await feed.write(to: &writer)
            try await writer.finish(nil)
            await count(entries, deliveries, now: now)
        }
    }

    /// Counts the optional acknowledgement, which has no required field.
    func acknowledge(_ request: Request, _ context: AccountContext) async throws -> Response {
        let body = try await JSONBody.object(of: request, levels: .max)
        let time: String? = if case .string(let text) = body["last_synced_at"] { text } else { nil }
        await count(.acknowledged, context)
        return try JSONBody.response(
            Acknowledged(
                last_synced_at: time.flatMap { FieldCheck.isTime($0) ? $0 : nil } ?? Timestamp.string(from: now())))
    }

    private func count(_ signal: SignalCounts.Signal, _ context: AccountContext) async {
        let now = now()
        await lost.attempt("the count of a lookup or an acknowledgement") {
            try await SignalCounts(database, account: context.account).add(signal, now: now)
        }
    }

    private struct Acknowledged: Encodable {
        var success = true
        var last_synced_at: String
    }

    /// Looks up one number, for a client without it in its copy.
    ///
    /// The brand is left out while the account may not brand calls, because some clients show it without checking the
    /// gates.
    func lookup(_ request: Request, _ context: AccountContext) async throws -> Response {
        guard let text = QueryText.number("e164", of: request), let number = E164Number(text) else {
            throw Refusal.badRequest("e164 must be a number such as %2B61491570156")
        }
        let (found, config) = try await BrandEntries(database, account: context.account)
            .lookup(number, device: QueryText.read("device_id", of: request), now: now())
        let item = found.map(logos().resolved)
        await count(item == nil ? .notMatched : .matched, context)
        let isAllowed = config.brandingEnabled == true
        let shown = isAllowed ? item : nil
        let link = shown?.brandID.flatMap { DeepLink(.brand, $0) } ?? DeepLink(number: number)
        let deepLink = links.scheme(for: request).map { link.text(scheme: $0) }
        if request.uri.queryParameters["format"] == "public" {
            var response = PublicLookupResponse(item, isDisplayed: isAllowed)
            response.deepLink = deepLink
            return try Self.varying(JSONBody.response(response))
        }
        var response = LookupResponse(e164: number.description, item: shown, config: config)
        response.deepLink = deepLink
        return try Self.varying(JSONBody.response(response))
    }

    /// A response whose link depends on the client type, for caches (RFC 9110 §12.5.5).
    private static func varying(_ response: Response) -> Response {
        var response = response
        response.headers[.vary] = ClientType.header
        return response
    }
}
