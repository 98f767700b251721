// SPDX-License-Identifier: Apache-2.0

/// The state of the fetches of one address: a row of `signers.sqlite`. Times are seconds since 1970.
package struct StoredFetch: Equatable, Sendable {
    /// The address, as tokens name it.
    package var address: String
    /// The raw value of a cause if the address has no certificate that counts, or if the last fetch failed; else nil.
    package var cause: UInt8?
    /// The reason for the operator; empty without a cause.
    package var reason = ""
    /// Failures in a row.
    package var attempts = 0
    /// The time before which nothing is fetched. With a certificate it is the time of the refresh.
    package var nextAt: Int64
    /// The time of the last successful fetch; nil before the first one.
    package var fetchedAt: Int64?
    /// The end of the time for which the host lets its response be kept; nil before the first success.
    package var expiresAt: Int64?
    /// The validators of the stored certificate.
    package var etag: String?
    package var lastModified: String?
    /// Whether the certificate was fetched again after a wrong signature, or since it no longer counted.
    package var isRenewed = false
    /// Raw values of causes by regime for a chain that counts under none; empty otherwise.
    package var standings: [UInt8] = []

    package init(address: String, nextAt: Int64) {
        self.address = address
        self.nextAt = nextAt
    }
}

/// A fetched certificate whose refresh is due.
package struct DueRefresh: Equatable, Sendable {
    package let address: String
    /// The names of the regimes that fetch and under which it counts.
    package let regimes: [String]

    package init(address: String, regimes: [String]) {
        self.address = address
        self.regimes = regimes
    }
}

/// The result of a fetch.
package struct FetchRecord: Sendable {
    /// The stored state that the fetch began with. The result counts only as long as that state is the present one.
    package var known: KnownFetch
    package var fetch: StoredFetch
    /// The chain that replaces the stored one; nil for a result without another chain that counts.
    package var signer: StoredSigner?

    package init(_ fetch: StoredFetch, since known: KnownFetch, signer: StoredSigner? = nil) {
        self.known = known
        self.fetch = fetch
        self.signer = signer
    }
}

/// The stored state of an address before a fetch.
package struct KnownFetch: Equatable, Sendable {
    /// The stored chain of the address with the decision on it.
    package struct Chain: Equatable, Sendable {
        /// As in `StoredSigner`.
        package let digest: [UInt8]
        package let validity: ClosedRange<Int64>
        package let standings: [UInt8]

        package init(digest: [UInt8], validity: ClosedRange<Int64>, standings: [UInt8]) {
            self.digest = digest
            self.validity = validity
            self.standings = standings
        }
    }

    /// Nil before the first fetch.
    package var state: StoredFetch?
    /// Nil for an address without a chain.
    package var chain: Chain?

    package init(state: StoredFetch? = nil, chain: Chain? = nil) {
        self.state = state
        self.chain = chain
    }
}
