// SPDX-License-Identifier: Apache-2.0

/// The body of `POST mobile/auth/token`, which carries `X-API-Key` and makes a registered device's first tokens.
package struct TokenRequest: Codable, Hashable, Sendable {
    package var deviceID: String

    package enum CodingKeys: String, CodingKey {
        case deviceID = "device_id"
    }

    package init(deviceID: String) { self.deviceID = deviceID }
}

/// The body of `POST mobile/auth/refresh`, which needs no other authentication.
package struct RefreshRequest: Codable, Hashable, Sendable {
    package var refreshToken: String

    package enum CodingKeys: String, CodingKey {
        case refreshToken = "refresh_token"
    }

    package init(refreshToken: String) { self.refreshToken = refreshToken }
}

/// The answer to both: tokens are secrets and never logged.
package struct TokenResponse: Codable, Hashable, Sendable {
    package var success: Bool
    /// For `Authorization: Bearer`.
    package var accessToken: String
    /// Takes the place of the one that was sent; nil leaves that one good.
    package var refreshToken: String?
    /// Seconds until the access token expires.
    package var expiresIn: Int?

    package enum CodingKeys: String, CodingKey {
        case success
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case expiresIn = "expires_in"
    }

    /// Reads a response; only the access token must be there.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        success = container.tolerantBool(.success) ?? true
        accessToken = try container.decode(String.self, forKey: .accessToken)
        refreshToken = container.tolerantString(.refreshToken)
        expiresIn = container.tolerantInt(.expiresIn)
    }

    package init(accessToken: String, refreshToken: String?, expiresIn: Int?) {
        success = true
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresIn = expiresIn
    }
}

/// The codes of a 401 by which a client knows what to do next.
///
/// Source: api-client-networking, "401 Handling".
package enum AuthenticationCode {
    /// Refresh the access token once, for all requests that wait, and repeat each once.
    package static let accessTokenExpired = "ErrAccessTokenExpired"
    /// Signed out: only new tokens help.
    package static let refreshTokenExpired = "ErrRefreshTokenExpired"
    /// Signed out: the directory does not know the device.
    package static let deviceNotRegistered = "ErrDeviceNotRegistered"
    /// The key wants signed requests, and this one's signature is missing, late or wrong.
    package static let invalidSignature = "ErrInvalidSignature"
}
