// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The body of `POST mobile/auth/token`, which requests the first tokens of a registered device.
///
/// The request carries `X-API-Key`.
package struct TokenRequest: Codable, Hashable, Sendable {
    package var deviceID: String

    package enum CodingKeys: String, CodingKey {
        case deviceID = "device_id"
    }

    package init(deviceID: String) { self.deviceID = deviceID }
}

/// The body of `POST mobile/auth/refresh`, which needs no other authentication.
package struct RefreshRequest: Codable, Hashable, Sendable, Redacted {
    package var refreshToken: String

    package enum CodingKeys: String, CodingKey {
        case refreshToken = "refresh_token"
    }

    package init(refreshToken: String) { self.refreshToken = refreshToken }
}

/// The response to both token requests; tokens are secrets and print as `<redacted>`.
package struct TokenResponse: Codable, Hashable, Sendable, Redacted {
    package var success: Bool
    /// The token for `Authorization: Bearer`.
    package var accessToken: String
    /// Replaces the refresh token of the request.
    ///
    /// Nil: that token stays valid.
    package var refreshToken: String?
    /// Seconds until the access token expires.
    package var expiresIn: Int?

    package enum CodingKeys: String, CodingKey {
        case success
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case expiresIn = "expires_in"
    }

    /// Decodes a response; only the access token is required.
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

/// The error codes of a 401, each with the client's next step.
///
/// Source: api-client-networking, "401 Handling"; mobile-api, "Mobile Error Codes".
package enum AuthenticationCode {
    /// Refresh the access token once for all waiting requests, then repeat each request once.
    package static let accessTokenExpired = "ErrAccessTokenExpired"
    /// The same in the Mobile API.
    package static let mobileTokenExpired = "TOKEN_EXPIRED"
    /// The session has ended: request new tokens with the API key.
    package static let refreshTokenExpired = "ErrRefreshTokenExpired"
    /// The session has ended: the directory does not know the device.
    package static let deviceNotRegistered = "ErrDeviceNotRegistered"
    /// The key requires signed requests, and the signature is missing, expired or wrong.
    package static let invalidSignature = "ErrInvalidSignature"
}
