// SPDX-License-Identifier: Apache-2.0

/// The dialled number of a sip, sips or tel URI, found without parsing the URI (RFC 3261 §19.1.1, RFC 3966 §3).
///
/// Holds ranges of the message's bytes, so it allocates nothing.
public struct DialledUser {
    /// The user or number without its parameters, escapes and separators included.
    public let user: Range<Int>
    /// The phone-context (RFC 3966 §5.1.5), of the user part or of the URI; nil without one.
    public let context: Range<Int>?

    /// Nil for a URI without a user or number, and for other schemes.
    public init?(_ bytes: [UInt8], _ uri: Range<Int>) { self.init(bytes.span, uri) }

    /// Nil for a URI without a user or number, and for other schemes.
    public init?(_ bytes: Span<UInt8>, _ uri: Range<Int>) {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: uri) else { return nil }
        let (scheme, start) = (uri.lowerBound..<colon, colon + 1)
        let isTelephone = bytes.matches(scheme, "tel")
        guard isTelephone || bytes.matches(scheme, "sip") || bytes.matches(scheme, "sips") else { return nil }
        let at = bytes.firstIndex(of: UInt8(ascii: "@"), in: start..<uri.upperBound)
        guard let end = isTelephone ? uri.upperBound : at else { return nil }
        // Behind a colon is a password.
        let userEnd = bytes.position(in: start..<end) { $0.marks(UInt8(ascii: ";")) | $0.marks(UInt8(ascii: ":")) }
        guard userEnd > start else { return nil }
        user = start..<userEnd
        context =
            HeaderParameters.find("phone-context", in: bytes, userEnd..<end)
            ?? HeaderParameters.find("phone-context", in: bytes, end..<uri.upperBound)
    }
}
