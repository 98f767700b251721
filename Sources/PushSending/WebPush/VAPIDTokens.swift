// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Signed tokens of this server, one for each push service (RFC 8292). Safe from any thread.
final class VAPIDTokens: Sendable {
    private struct Claims: Encodable {
        var aud: String
        var exp: Int64
        var sub: String
    }

    private struct Token {
        var value: String
        var end: Int64
    }

    /// Seconds for which a token is valid; the standard permits 24 hours.
    static let lifetime: Int64 = 12 * 3600
    /// Seconds before its end in which a token is not used any more.
    static let reserve: Int64 = 3600
    /// The most tokens in memory.
    static let most = 1000

    private let settings: WebPushSettings
    private let tokens = Mutex<[String: Token]>([:])

    init(_ settings: WebPushSettings) { self.settings = settings }

    /// The value of `Authorization` for a push service.
    ///
    /// - Parameter origin: scheme, host and port of the endpoint.
    func authorization(for origin: String, at now: Int64) throws -> String {
        let token = try tokens.withLock { tokens in
            if let token = tokens[origin], token.end - Self.reserve > now, token.end <= now + Self.lifetime {
                return token.value
            }
            let claims = Claims(aud: origin, exp: now + Self.lifetime, sub: settings.subject)
            let value = try JSONWebToken.sign(claims, with: .es256(settings.key.key))
            if tokens.count >= Self.most { tokens.removeAll() }
            tokens[origin] = Token(value: value, end: claims.exp)
            return value
        }
        return "vapid t=\(token), k=\(settings.key.publicKey)"
    }
}
