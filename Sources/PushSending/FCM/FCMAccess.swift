// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import NIOHTTP1

/// The access token of a service account (RFC 7523): requested once for all messages, and again shortly before its end.
actor FCMAccess {
    private struct Claims: Encodable {
        var aud: String
        var exp: Int64
        var iat: Int64
        var iss: String
        var scope: String
    }

    private struct Granted: Decodable {
        var access_token: String
        var expires_in: Int64
    }

    private struct Refusal: Decodable {
        var error: String
    }

    /// The token, or the result of the messages that wait for it.
    enum Outcome: Sendable {
        case token(String)
        case none(PushResult)
    }

    private struct Token {
        var value: String
        var end: Int64
    }

    static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    /// Seconds for which a request for a token is valid, the most that Google permits.
    static let lifetime: Int64 = 3600
    /// Seconds before its end in which a token is not used any more.
    static let reserve: Int64 = 60

    private let settings: FCMSettings
    private let url: FetchURL
    private let post: CheckedPost
    private var current: Token?
    private var pending: Task<Outcome, Never>?

    init(_ settings: FCMSettings, url: FetchURL, post: CheckedPost) {
        (self.settings, self.url, self.post) = (settings, url, post)
    }

    /// - Parameter refused: a token that FCM did not accept; another one is requested in its place.
    func token(at now: Int64, not refused: String? = nil) async -> Outcome {
        if let token = current, token.value != refused, now < token.end - Self.reserve { return .token(token.value) }
        if let pending { return await pending.value }
        let request = Task { await self.request(at: now) }
        pending = request
        let outcome = await request.value
        pending = nil
        return outcome
    }

    private func request(at now: Int64) async -> Outcome {
        let claims = Claims(
            aud: settings.tokenURL, exp: now + Self.lifetime, iat: now, iss: settings.email, scope: Self.scope)
        guard let assertion = try? JSONWebToken.sign(claims, with: .rs256(settings.key), id: settings.keyID) else {
            return .none(.later(after: nil, reason: "the request for a token of FCM cannot be signed"))
        }
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        let headers: HTTPHeaders = ["Content-Type": "application/x-www-form-urlencoded", "User-Agent": "herald"]
        do throws(FetchFailure) {
            return read(try await post.response(to: url, headers, body: Array(form.utf8)), now)
        } catch {
            return .none(.later(after: nil, reason: "no token for FCM: \(error)"))
        }
    }

    private func read(_ response: CheckedPost.Response, _ now: Int64) -> Outcome {
        if response.status == 200, let granted = PushJSON.value(Granted.self, in: response.body),
            granted.access_token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        {
            let seconds = min(max(0, granted.expires_in), Self.lifetime)
            current = Token(value: granted.access_token, end: now + seconds)
            return .token(granted.access_token)
        }
        let error = PushJSON.value(Refusal.self, in: response.body).map { ": \(FetchFailure.shown($0.error))" } ?? ""
        let reason = "no token for FCM: its token server returned \(response.status)\(error)"
        return .none(response.later(reason, at: now))
    }
}
