// SPDX-License-Identifier: Apache-2.0

package import CheckedHTTP
package import Trust

/// Why the certificate or the list of an address could not be fetched.
package enum CertificateProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// No regime with `fetch: on` for which it is fetched allows the address.
    case notAllowed
    case fetch(FetchFailure)
    /// The body has no certificate in PEM, such as a page in HTML.
    case notPEM
    /// The certificates are no chain of one signer.
    case chain(String)
    /// The body is no list of the kind that the address is for, such as a page in HTML.
    case notList(ListKind)
    /// The value for Authorization cannot be read, or would travel unencrypted.
    case authorization(String)

    /// The cause of tokens that name the address: missing evidence, or a certificate that cannot be used.
    package var cause: TrustCause {
        switch self {
        case .notAllowed, .fetch, .authorization: .certificateUnreachable
        case .notPEM, .chain, .notList: .certificateMalformed
        }
    }

    /// Label for metrics and tables.
    package var reason: String {
        switch self {
        case .notAllowed: "not_allowed"
        case .fetch(let failure): failure.reason
        case .notPEM: "not_pem"
        case .chain: "chain"
        case .notList: "not_list"
        case .authorization: "authorization"
        }
    }

    package var description: String {
        switch self {
        case .notAllowed: "no regime with fetch: on allows it; see x5u_ports, x5u_http and x5u_private"
        case .fetch(.forbiddenAddress(let address)): "\(address) is no public address; see x5u_private"
        case .fetch(let failure): failure.description
        case .notPEM: "the host returns something else than certificates in PEM"
        case .chain(let reason): reason
        case .notList(let kind): "the host returns something else than a \(kind.name)"
        case .authorization(let reason): reason
        }
    }
}
