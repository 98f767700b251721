// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Crypto
import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Primitives

/// `GET /b/{brand_id}`: the public card of a brand, without a key and without a script.
///
/// An unknown brand and one whose card is not public have the same response, in every byte.
struct CardRoute: Sendable {
    let cards: BrandCards
    let page: CardPage
    /// The server's URL for clients; nil gives no card, because a card names its own address.
    let base: String?
    let logos: @Sendable () -> LogoURLs
    let policies: CurrentPolicies
    let now: @Sendable () -> Int64
    private let windows = RequestWindows<ClientAddress>()

    init(
        _ cards: BrandCards, page: CardPage, base: String?, logos: @escaping @Sendable () -> LogoURLs,
        policies: CurrentPolicies, now: @escaping @Sendable () -> Int64
    ) {
        (self.cards, self.page, self.base, self.logos) = (cards, page, base, logos)
        (self.policies, self.now) = (policies, now)
    }

    /// - Throws: `Refusal` (429), or a database error.
    func card(_ request: Request, _ context: KeyedContext) async throws -> Response {
        let limit = policies.value.rateLimits.cards
        let window = windows.count(ClientAddress(peer: context.peer, request), limit: limit, now: now())
        if let window, !window.isWithin {
            throw Refusal.tooMany("Too many cards for this address", limit: limit, reset: window.reset, now: now())
        }
        guard let base, let id = Self.id(in: request.uri.path), let card = try await cards.card(of: id) else {
            return missing
        }
        let logo = CardLogo.shown(logos().url(of: card.logo), on: base)
        guard let values = CardValues(card, base: base, logo: logo) else { return missing }
        let text = page.text(values)
        let tag = "\"\(Hexadecimal.text(SHA256.hash(data: Data(text.utf8)).prefix(16)))\""
        var headers = Self.headers(
            style: page.style, image: logo.flatMap { CardLogo.origin(of: $0) } ?? "'none'", seconds: 300)
        headers[.eTag] = tag
        if ConditionalRequest.holds(tag, request) { return Response(status: .notModified, headers: headers) }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    /// The identifier in a card's path; nil for a text that is no UTF-8.
    static func id(in path: String) -> String? {
        guard path.hasPrefix("/b/") else { return nil }
        return String(path.dropFirst(3)).removingPercentEncoding
    }

    private var missing: Response {
        Response(
            status: .notFound, headers: Self.headers(style: "'none'", image: "'none'", seconds: 60),
            body: .init(byteBuffer: ByteBuffer(string: page.missing)))
    }

    /// The header fields of a page without script, forms and foreign content (CSP 3).
    private static func headers(style: String, image: String, seconds: Int) -> HTTPFields {
        var fields: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "public, max-age=\(seconds)",
            .contentSecurityPolicy: "default-src 'none'; style-src \(style); img-src \(image); "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            .xContentTypeOptions: "nosniff",
        ]
        if let name = HTTPField.Name("Referrer-Policy") { fields[name] = "no-referrer" }
        return fields
    }
}
