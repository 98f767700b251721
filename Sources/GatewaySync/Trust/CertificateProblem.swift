// SPDX-License-Identifier: Apache-2.0

package import Trust

/// Why the certificate of an address could not be fetched.
package enum CertificateProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// No regime with `fetch: on` for which it is fetched allows the address.
    case notAllowed
    case fetch(FetchFailure)
    /// The body has no certificate in PEM, such as a page in HTML.
    case notPEM
    /// The certificates are no chain of one signer.
    case chain(String)

    /// The cause of tokens that name the address: missing evidence, or a certificate that cannot be used.
    package var cause: TrustCause {
        switch self {
        case .notAllowed, .fetch: .certificateUnreachable
        case .notPEM, .chain: .certificateMalformed
        }
    }

    /// Label for metrics and tables.
    package var reason: String {
        switch self {
        case .notAllowed: "not_allowed"
        case .fetch(let failure): failure.reason
        case .notPEM: "not_pem"
        case .chain: "chain"
        }
    }

    package var description: String {
        switch self {
        case .notAllowed: "no regime with fetch: on allows it; see x5u_ports, x5u_http and x5u_private"
        case .fetch(.forbiddenAddress(let address)): "\(address) is no public address; see x5u_private"
        case .fetch(let failure): failure.description
        case .notPEM: "the host returns something else than certificates in PEM"
        case .chain(let reason): reason
        }
    }
}
