// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// `POST /oauth2/token`: access tokens by client credentials (RFC 6749 §4.4), with the errors of §5.2.
struct ClientTokenRoute: Sendable {
    let database: DirectoryDatabase
    let gate: CamaraGate
    let now: @Sendable () -> Int64

    private struct Token: Encodable {
        let accessToken: String
        let tokenType = "Bearer"
        let expiresIn = ClientTokens.life
        let scope: String

        enum CodingKeys: String, CodingKey {
            case scope
            case accessToken = "access_token"
            case tokenType = "token_type"
            case expiresIn = "expires_in"
        }
    }

    /// Longest body, in bytes.
    private static let longest = 8192

    func token(_ request: Request, _ context: KeyedContext) async throws -> Response {
        do {
            let form = try await form(of: request)
            let client = try ClientCredentials(request, form)
            let caller = try await caller(client, request, context)
            let scopes = try Self.scopes(form["scope"])
            let token = try await ClientTokens(database).issue(scopes, to: caller, now: now())
            return try Self.uncached(
                CamaraJSON.response(Token(accessToken: token, scope: scopes.joined(separator: " "))))
        } catch let error as TokenRefusal {
            return try Self.uncached(error.response())
        }
    }

    private func form(of request: Request) async throws -> [String: String] {
        let type = request.headers[.contentType]?.split(separator: ";").first?.filter { !$0.isWhitespace }
        guard type?.lowercased() == FormBody.mediaType else {
            throw TokenRefusal(.invalidRequest, "the body must be \(FormBody.mediaType)")
        }
        let body: Data
        do {
            body = try await JSONBody.data(of: request, upTo: Self.longest)
        } catch let refusal as Refusal {
            throw TokenRefusal(.invalidRequest, refusal.message)
        }
        guard let form = FormBody.read(body) else {
            throw TokenRefusal(.invalidRequest, "the body has a parameter twice, or one that cannot be read")
        }
        switch form["grant_type"] {
        case nil: throw TokenRefusal(.invalidRequest, "grant_type is missing")
        case "client_credentials": return form
        default: throw TokenRefusal(.unsupportedGrantType, "grant_type must be client_credentials")
        }
    }

    private func caller(
        _ client: ClientCredentials, _ request: Request, _ context: KeyedContext
    ) async throws -> Caller {
        let caller: Caller
        do {
            caller = try await gate.keys.countingWrong(request, context) {
                guard let found = try await ClientTokens(database).client(client.id, secret: client.secret, now: now())
                else { throw Refusal.noKey }
                return found
            }
            try gate.limit(caller)
        } catch let refusal as Refusal where refusal.status == .tooManyRequests {
            throw TokenRefusal(.invalidRequest, refusal.message, status: .tooManyRequests, headers: refusal.headers)
        } catch let refusal as Refusal where refusal.status == .unauthorized {
            throw TokenRefusal(.invalidClient, "client_id or client_secret is wrong")
        }
        guard caller.kind == .registrar, caller.signing == nil else {
            throw TokenRefusal(
                .unauthorizedClient, "the key must be of the kind registrar, without signatures")
        }
        return caller
    }

    /// The scopes of a token: all without a wish.
    private static func scopes(_ wanted: String?) throws -> [String] {
        let words = Set(wanted?.split(separator: " ").map(String.init) ?? [])
        if words.isEmpty { return CamaraScope.allCases.map(\.rawValue) }
        let known = CamaraScope.allCases.map(\.rawValue).filter(words.contains)
        guard known.count == words.count else {
            let all = CamaraScope.allCases.map(\.rawValue).joined(separator: ", ")
            throw TokenRefusal(.invalidScope, "the scopes are \(all)")
        }
        return known
    }

    private static func uncached(_ response: Response) -> Response {
        var response = response
        response.headers[.cacheControl] = "no-store"
        if let pragma = HTTPField.Name("Pragma") { response.headers[pragma] = "no-cache" }
        return response
    }
}

/// A refused request for a token (RFC 6749 §5.2).
struct TokenRefusal: Error {
    enum Code: String {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidScope = "invalid_scope"
    }

    private struct Body: Encodable {
        let error: String
        let description: String

        enum CodingKeys: String, CodingKey {
            case error
            case description = "error_description"
        }
    }

    private let code: Code
    private let description: String
    private let status: HTTPResponse.Status
    private let headers: HTTPFields

    /// - Parameter description: ASCII text without quotes and backslashes.
    init(_ code: Code, _ description: String, status: HTTPResponse.Status? = nil, headers: HTTPFields = [:]) {
        (self.code, self.description, self.headers) = (code, description, headers)
        self.status = status ?? (code == .invalidClient ? .unauthorized : .badRequest)
    }

    func response() throws -> Response {
        var response = try CamaraJSON.response(Body(error: code.rawValue, description: description), status: status)
        for field in headers { response.headers.append(field) }
        if status == .unauthorized { response.headers[.wwwAuthenticate] = #"Basic realm="herald-directory""# }
        return response
    }
}
