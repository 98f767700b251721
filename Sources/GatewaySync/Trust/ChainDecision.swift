// SPDX-License-Identifier: Apache-2.0

package import Trust

/// The decision on a chain: everything that a signer's row has beside its address.
package struct ChainDecision: Sendable {
    /// The contents of a constraint extension.
    package struct Constraint: Equatable, Sendable {
        package var der: [UInt8]
        package var isEnhanced: Bool
    }

    /// The result under one regime.
    package struct Standing: Equatable, Sendable {
        /// `passed`, or the cause for which tokens of the signer do not count.
        package var cause: TrustCause
        /// The reason for the operator; empty for `passed`.
        package var reason: String
    }

    /// The P-256 key in X9.63; nil for another key.
    package var key: [UInt8]?
    /// The contents of a readable TNAuthList.
    package var authority: [UInt8]?
    /// The constraints of each certificate of the chain.
    package var constraints: [Constraint] = []
    /// The first second of the leaf, and the last one of the chain.
    package var validity: ClosedRange<Int64> = 0...0
    /// One for each regime, in its order.
    package var standings: [Standing] = []
    /// True if the certificates are, in their order, the beginning of a path under which the chain passed.
    ///
    /// Anybody can put certificates of his own behind a published leaf, so a chain beside its path is one of any number.
    package var isPath = false
    /// The leaf and the certificates between it and an anchor in DER, for each regime under which the chain passed.
    package var path: [[UInt8]] = []
    /// The subject of the leaf.
    package var subject = ""
    /// The issuer of the leaf.
    package var issuer = ""
    /// The serial number of the leaf in hexadecimal digits.
    package var serial = ""
    /// The SHA-256 by which tokens with the chain inside find it.
    package var digest: [UInt8] = []
}
