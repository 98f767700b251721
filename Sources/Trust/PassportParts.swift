// SPDX-License-Identifier: Apache-2.0

/// The two JSON texts of a token, for what is shown of it. Nothing is verified by it.
public struct PassportParts: Sendable {
    /// The token's header, as received.
    public let header: [UInt8]
    /// The claims, as received.
    public let claims: [UInt8]

    /// Decodes a token in compact serialisation (RFC 7515 §7.1); nil for another form.
    public init?(_ token: [UInt8]) {
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decoded(parts[0]), let claims = Self.decoded(parts[1])
        else { return nil }
        (self.header, self.claims) = (header, claims)
    }

    private static func decoded(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        let text = Array(part)
        return Base64.decode(text.span)
    }
}
