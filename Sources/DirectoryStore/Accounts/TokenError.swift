// SPDX-License-Identifier: Apache-2.0

/// Refusals of a device's token.
package enum TokenError: Error, Hashable {
    /// The access token is unknown or has expired; a refresh may help.
    case accessExpired
    /// The refresh token is unknown, has expired or was used before; only the API key helps.
    case refreshExpired
    /// The account does not know the device.
    case deviceUnknown
}
