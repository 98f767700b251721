// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The kind of a list that decides on signers.
package enum ListKind: String, Hashable, Sendable {
    /// A signed list of authorities (ATIS-1000084).
    case authorities
    /// A revocation list (RFC 5280 §5).
    case revocations

    /// The name for the operator.
    package var name: String {
        switch self {
        case .authorities: "list of authorities"
        case .revocations: "revocation list"
        }
    }
}

/// One list out of the response of a host, by its form alone: an import verifies it.
package struct FetchedList: Hashable, Sendable {
    package let kind: ListKind
    /// The signed token, perhaps inside a response of the STI-PA; empty for a revocation list.
    package private(set) var token = ""
    /// The revocation list in DER; empty for a list of authorities.
    package private(set) var der: [UInt8] = []

    /// Reads a body. One with anything beside the list is refused: a host of lists brings no signers.
    package init(_ kind: ListKind, in body: [UInt8]) throws(CertificateProblem) {
        self.kind = kind
        var material = TrustMaterial()
        material.add(body, of: "")
        guard material.refusals.isEmpty, material.chains.isEmpty, material.authorities.isEmpty,
            material.addresses.isEmpty
        else { throw .notList(kind) }
        switch kind {
        case .authorities:
            guard material.revocations.isEmpty, material.lists.count == 1 else { throw .notList(kind) }
            token = material.lists[0].token
        case .revocations:
            guard material.lists.isEmpty, material.revocations.count == 1 else { throw .notList(kind) }
            der = material.revocations[0].der
        }
    }

    /// The SHA-256 of the list in the form in which it is stored.
    package var digest: [UInt8] {
        kind == .revocations ? Self.digest(of: der) : Self.digest(of: AuthorityListToken.bare(token))
    }

    /// The digest of a stored list of authorities.
    package static func digest(of token: String) -> [UInt8] { digest(of: Array(token.utf8)) }

    /// The digest of a stored revocation list.
    package static func digest(of der: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: der)) }
}
