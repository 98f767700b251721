// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The signed token of an account with APNs.
///
/// Apple refuses tokens older than an hour, and an account that makes more than one in 20 minutes. Safe from any thread.
final class APNsToken: Sendable {
    private struct Claims: Encodable {
        var iat: Int64
        var iss: String
    }

    private struct Token {
        var value: String
        var madeAt: Int64
    }

    /// Seconds after which a token is replaced.
    static let lifetime: Int64 = 50 * 60
    /// Seconds for which a token must stay.
    static let pause: Int64 = 20 * 60

    private let settings: APNsSettings
    private let current = Mutex<Token?>(nil)

    init(_ settings: APNsSettings) { self.settings = settings }

    /// The token for a request.
    func value(at now: Int64) throws -> String {
        try current.withLock { current in
            if let token = current, (0..<Self.lifetime).contains(now - token.madeAt) { return token.value }
            return try make(&current, now)
        }
    }

    /// A token in place of one that APNs calls expired; nil if the account may make none yet.
    func value(after expired: String, at now: Int64) throws -> String? {
        try current.withLock { current in
            if let token = current, token.value != expired { return token.value }
            if let token = current, (0..<Self.pause).contains(now - token.madeAt) { return nil }
            return try make(&current, now)
        }
    }

    private func make(_ current: inout Token?, _ now: Int64) throws -> String {
        let claims = Claims(iat: now, iss: settings.teamID)
        let value = try JSONWebToken.sign(claims, with: .es256(settings.key), id: settings.keyID, type: nil)
        current = Token(value: value, madeAt: now)
        return value
    }
}
