// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Crypto
import DirectoryStore
import Foundation
import WebPages

/// The values of a card's template.
struct CardValues: Sendable {
    let cardName: String
    let cardURL: String
    let cardReason: String?
    /// A URL that the page may load; nil for none.
    let cardLogo: String?
    /// The number of the button.
    let cardCall: String
    let cardNumbers: [Number]
    let cardHasMore: Bool

    struct Number: Sendable {
        let cardNumber: String
        let ownReason: String?
    }

    /// The values of a card; nil without a number, and for an identifier that no URL can have.
    ///
    /// - Parameters:
    ///   - base: the server's URL for clients.
    ///   - logo: the URL of the logo; nil for none.
    init?(_ card: BrandCards.Card, base: String, logo: String?) {
        guard let first = card.numbers.first, let url = CardURL.text(base: base, brandID: card.id) else { return nil }
        cardName = card.name
        cardURL = url
        cardReason = card.reason
        cardLogo = logo
        cardCall = first.number.description
        cardNumbers = card.numbers.map { Number(cardNumber: $0.number.description, ownReason: $0.reason) }
        cardHasMore = card.hasMore
    }
}

/// Renders cards, and the page of addresses without one.
struct CardPage: Sendable {
    private let templates: PageTemplates
    /// The source of the only style, as a Content-Security-Policy names it (CSP 3 §2.3.1).
    let style: String
    /// The page of every address without a card.
    let missing: String

    init() throws {
        templates = try PageTemplates([
            "card": PackageResources.card_mustache, "nocard": PackageResources.nocard_mustache,
        ])
        style = Self.source(ofStyleIn: String(decoding: PackageResources.card_mustache, as: UTF8.self))
        missing = templates.render("nocard", [String: String]()) ?? ""
    }

    /// The page of a card, in HTML.
    func text(_ values: CardValues) -> String { templates.render("card", values) ?? "" }

    /// The hash of the text between the tags of a style.
    static func source(ofStyleIn page: String) -> String {
        guard let start = page.range(of: "<style>"), let end = page.range(of: "</style>") else { return "'none'" }
        let hash = SHA256.hash(data: Data(page[start.upperBound..<end.lowerBound].utf8))
        return "'sha256-\(Data(hash).base64EncodedString())'"
    }
}

/// The logo of a card, as far as its page may load it.
enum CardLogo {
    /// The origin of a logo's URL, such as `https://logos.example`; nil for a URL that no policy can name.
    static func origin(of url: String) -> String? {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), parts.user == nil, let host = parts.percentEncodedHost, !host.isEmpty,
            host.utf8.allSatisfy({ byte in
                (48...57).contains(byte) || (97...122).contains(byte | 0x20) || ".-:[]".utf8.contains(byte)
            })
        else { return nil }
        return "\(scheme)://\(host)" + (parts.port.map { ":\($0)" } ?? "")
    }

    /// The URL if a page at `base` may load it: from the same origin, or over TLS.
    static func shown(_ url: String?, on base: String) -> String? {
        guard let url, let origin = origin(of: url) else { return nil }
        return origin.hasPrefix("https://") || origin == self.origin(of: base) ? url : nil
    }
}
