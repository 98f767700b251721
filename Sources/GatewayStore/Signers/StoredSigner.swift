// SPDX-License-Identifier: Apache-2.0

/// A certificate chain of a signer with the decision on it: a row of `signers.sqlite`.
package struct StoredSigner: Equatable, Sendable {
    /// The row; 0 before the row is stored, negative for a temporary chain.
    package var row: Int64 = 0
    /// The address of the certificate; nil for a chain that comes in tokens alone.
    package var address: String?
    /// The certificates in DER, leaf first; none of a temporary chain.
    package var certificates: [[UInt8]]
    /// The SHA-256 of the chain as `x5c` has it, 32 bytes.
    package var chain: [UInt8]
    /// The P-256 key in X9.63, 65 bytes; nil for another key.
    package var key: [UInt8]?
    /// The contents of the TNAuthList in DER; nil without a readable one.
    package var authority: [UInt8]?
    /// The constraints of the chain's certificates.
    package var constraints: [Constraint] = []
    /// The first and the last second of the chain.
    package var validity: ClosedRange<Int64>
    /// Raw values of causes, one for each regime in its order.
    package var standings: [UInt8] = []
    /// The subject of the leaf.
    package var subject: String
    /// The time of the import.
    package var importedAt: Int64

    /// The contents of a constraint extension.
    package struct Constraint: Equatable, Sendable {
        package var der: [UInt8]
        /// Whether it is the enhanced form (RFC 9118).
        package var isEnhanced: Bool

        package init(der: [UInt8], isEnhanced: Bool) {
            self.der = der
            self.isEnhanced = isEnhanced
        }
    }

    package init(
        row: Int64 = 0, address: String?, certificates: [[UInt8]], chain: [UInt8], key: [UInt8]?, authority: [UInt8]?,
        constraints: [Constraint], validity: ClosedRange<Int64>, standings: [UInt8], subject: String, importedAt: Int64
    ) {
        self.row = row
        self.address = address
        self.certificates = certificates
        self.chain = chain
        self.key = key
        self.authority = authority
        self.constraints = constraints
        self.validity = validity
        self.standings = standings
        self.subject = subject
        self.importedAt = importedAt
    }
}

/// A list of authorities in force for a regime.
package struct StoredAuthorityList: Equatable, Sendable {
    package var regime: String
    package var sequence: Int64
    /// The time of its end.
    package var expires: Int64
    /// The signed token.
    package var token: String
    package var importedAt: Int64

    package init(regime: String, sequence: Int64, expires: Int64, token: String, importedAt: Int64) {
        self.regime = regime
        self.sequence = sequence
        self.expires = expires
        self.token = token
        self.importedAt = importedAt
    }
}

/// A revocation list, the newest one of its signer.
package struct StoredRevocationList: Equatable, Sendable {
    /// The name and the key of the signer in DER.
    package var signer: [UInt8]
    package var der: [UInt8]
    package var importedAt: Int64

    package init(signer: [UInt8], der: [UInt8], importedAt: Int64) {
        self.signer = signer
        self.der = der
        self.importedAt = importedAt
    }
}

/// Everything in `signers.sqlite` at one moment but temporary chains, which each decision removes.
package struct StoredTrust: Sendable {
    /// The count of changes.
    package var generation: Int64 = 0
    /// The rules that the standings were decided for, as `DecidedRules` has them.
    package var regimes: [UInt8] = []
    /// The time of the last decision.
    package var decidedAt: Int64 = 0
    /// In the order of their rows.
    package var signers: [StoredSigner] = []
    /// Certificates of authorities in DER, in no order.
    package var issuers: [[UInt8]] = []
    /// Addresses without a certificate, with the time of their import.
    package var unknown: [String: Int64] = [:]
    /// States of fetches by address, for reading; a change as a whole keeps them.
    package var fetches: [String: StoredFetch] = [:]
    /// States of fetches of lists by address, for reading; a change as a whole keeps them.
    package var listFetches: [String: StoredListFetch] = [:]
    package var authorityLists: [StoredAuthorityList] = []
    package var revocationLists: [StoredRevocationList] = []

    /// Nothing.
    package init() {}
}
