// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryStore
import HTTPTypes
import Hummingbird

/// `GET mobile/test/deep-link`: a link into an app and what it opens, for developers of apps.
///
/// Source: mobile-api, "Verify Deep Link".
struct DeepLinkRoute: Sendable {
    let database: DirectoryDatabase
    let links: ClientLinks

    private struct Checked: Encodable {
        let deep_link: String
        /// The public card that shows the same; null without one.
        let web_url: String?
        /// True if the account has what the link opens.
        let valid: Bool

        enum CodingKeys: CodingKey { case deep_link, web_url, valid }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(deep_link, forKey: .deep_link)
            try container.encode(web_url, forKey: .web_url)
            try container.encode(valid, forKey: .valid)
        }
    }

    func check(_ request: Request, _ context: AccountContext) async throws -> Response {
        let type = QueryText.read("type", of: request) ?? ""
        guard let kind = DeepLink.Kind(rawValue: type) else { throw Refusal.linkType(type) }
        var id = QueryText.read("id", of: request)
        // Some clients encode a number twice.
        if kind == .number, let number = QueryText.number("id", of: request).flatMap({ E164Number($0) }) {
            id = number.description
        }
        guard let id, id.unicodeScalars.count <= 256, !id.utf8.contains(0), let link = DeepLink(kind, id) else {
            throw Refusal.badRequest("id must have 1 to 256 characters, such as acme-bank")
        }
        let found = try await LinkedThings(database, account: context.account).find(link)
        return try JSONBody.response(
            Checked(
                deep_link: link.text(scheme: links.scheme()), web_url: found.cardBrand.flatMap { links.card(of: $0) },
                valid: found.isValid))
    }
}

/// The links in responses to clients.
struct ClientLinks: Sendable {
    /// The scheme in force.
    let scheme: @Sendable () -> String
    /// The server's URL for clients; nil without one.
    let base: String?

    /// The scheme of the links that a request's responses have; nil for a client that gets none.
    func scheme(for request: Request) -> String? { request.clientType?.isMobile == true ? scheme() : nil }

    /// The URL whose template of cards a request's responses have; nil for a client that gets none.
    func cardBase(for request: Request) -> String? { request.clientType == .herald ? base : nil }

    /// The URL of a brand's card; nil without a URL of the server.
    func card(of brand: String) -> String? { base.flatMap { CardURL.text(base: $0, brandID: brand) } }
}

extension Request {
    /// The client type that the request names; nil for none.
    var clientType: ClientType? {
        HTTPField.Name(ClientType.header).flatMap { headers[$0] }.flatMap { ClientType(rawValue: $0) }
    }
}

extension Refusal {
    /// The type of a link is unknown.
    fileprivate static func linkType(_ provided: String) -> Refusal {
        let allowed = DeepLink.Kind.allCases.map(\.rawValue)
        var refusal = Refusal(
            .unprocessableContent, "Invalid link type. Must be one of: \(allowed.joined(separator: ", "))",
            code: "INVALID_LINK_TYPE")
        refusal.details = [
            "provided": .string(String(provided.prefix(64))), "allowed": .array(allowed.map { .string($0) }),
        ]
        return refusal
    }
}

extension EventResponse {
    /// Adds the link to the call of the event: by its `call_event_id` as in push messages, or else by the `event_id`.
    mutating func link(to event: EventRequest, scheme: String) {
        guard let eventID else { return }
        deepLink = DeepLink(.call, event.callID ?? eventID)?.text(scheme: scheme)
    }
}
