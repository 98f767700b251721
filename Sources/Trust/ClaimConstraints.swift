// SPDX-License-Identifier: Apache-2.0

/// The claims that a certificate demands, permits and forbids in its tokens (RFC 8226 §8, RFC 9118 §3).
public struct ClaimConstraints: Equatable, Sendable {
    /// The values that a claim may have, if it is there.
    public struct Permitted: Equatable, Sendable {
        /// The name of the claim.
        public let claim: String
        /// Text, or the RFC 8225 §9 form of a value that is no text.
        public let values: [String]
    }

    /// Claims that a token must have.
    public private(set) var mustInclude: [String] = []
    /// Values that claims may have.
    public private(set) var permitted: [Permitted] = []
    /// Claims that a token must not have.
    public private(set) var mustExclude: [String] = []

    /// Reads the contents of the extension 1.3.6.1.5.5.7.1.27, or of 1.3.6.1.5.5.7.1.33 if it is the enhanced one.
    ///
    /// Nil for a damaged encoding, for an empty one and for more than 100 names or values. That certificate is malformed.
    public init?(der: [UInt8], isEnhanced: Bool) {
        var outer = DERReader(der)
        guard var fields = outer.nested(DERReader.sequence), outer.isAtEnd, !fields.isAtEnd else { return nil }
        if var field = fields.nested(0xA0) {
            guard let names = Self.names(&field) else { return nil }
            mustInclude = names
        }
        if var field = fields.nested(0xA1) {
            guard let values = Self.permitted(&field) else { return nil }
            permitted = values
        }
        if isEnhanced, var field = fields.nested(0xA2) {
            guard let names = Self.names(&field) else { return nil }
            mustExclude = names
        }
        guard fields.isAtEnd else { return nil }
    }

    /// Claims that every token has. A certificate that excludes one of them has no constraints (RFC 9118 §4).
    private static let baseClaims = ["orig", "dest", "iat"]

    /// True if the extension counts as absent, because it excludes a claim that every token has.
    public var isVoid: Bool { mustExclude.contains(where: Self.baseClaims.contains) }

    private static let most = 100

    /// One SEQUENCE of names of claims.
    private static func names(_ field: inout DERReader) -> [String]? {
        guard var list = field.nested(DERReader.sequence), field.isAtEnd, !list.isAtEnd else { return nil }
        var names: [String] = []
        while !list.isAtEnd {
            guard names.count < most, let name = list.text(DERReader.ia5Text, most: 64) else { return nil }
            names.append(name)
        }
        return names
    }

    /// One SEQUENCE of claims with the values of each.
    private static func permitted(_ field: inout DERReader) -> [Permitted]? {
        guard var list = field.nested(DERReader.sequence), field.isAtEnd, !list.isAtEnd else { return nil }
        var permitted: [Permitted] = []
        while !list.isAtEnd {
            guard permitted.count < most, var pair = list.nested(DERReader.sequence),
                let claim = pair.text(DERReader.ia5Text, most: 64),
                var values = pair.nested(DERReader.sequence), pair.isAtEnd, !values.isAtEnd
            else { return nil }
            var texts: [String] = []
            while !values.isAtEnd {
                guard texts.count < most, let text = values.text(DERReader.utf8Text, most: 4096) else { return nil }
                texts.append(text)
            }
            permitted.append(Permitted(claim: claim, values: texts))
        }
        return permitted
    }
}
