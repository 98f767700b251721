// SPDX-License-Identifier: Apache-2.0

package import CheckedHTTP
import Foundation
import NIOHTTP1
package import NIOSSL
package import Trust

/// Fetches the certificate chain of one signer, or a list of a regime, by the rules of `CheckedGet` and of the regimes for which it is fetched.
///
/// The server's certificate is judged by ordinary web roots. The authenticity of a chain comes from its anchors, which
/// `ChainPolicy` judges.
package struct CertificateFetch: Sendable {
    /// The host's response.
    package enum Response: Hashable, Sendable {
        case unchanged(CertificateFreshness)
        /// Certificates in DER, one to six, the leaf first.
        case chain([[UInt8]], CertificateFreshness)
    }

    /// The host's response to a request for a list.
    package enum ListResponse: Hashable, Sendable {
        case unchanged(CertificateFreshness)
        case list(FetchedList, CertificateFreshness)
    }

    /// The largest body in bytes.
    package static let mostBytes = 65_536
    /// The same of a list: a revocation list has some 40 bytes for each certificate.
    package static let mostBytesOfList = 8 << 20
    /// The longest time for a connection.
    package static let connect = Duration.seconds(3)
    /// The longest time for everything, from the name to the last byte.
    package static let total = Duration.seconds(5)
    /// The same for a list, which is a hundred times as large.
    package static let totalOfList = Duration.seconds(30)

    private let version: String
    private let resolve: HostResolver
    private let roots: [NIOSSLCertificate]?
    private let total: Duration

    /// - Parameters:
    ///   - version: Herald's own, for `User-Agent`.
    ///   - roots: authorities of web servers; nil for those of the system.
    package init(
        version: String, resolve: @escaping HostResolver = HostAddress.resolve, roots: [NIOSSLCertificate]? = nil,
        total: Duration = CertificateFetch.total
    ) {
        self.version = version
        self.resolve = resolve
        self.roots = roots
        self.total = total
    }

    /// True if some of the rules allow the address.
    package static func allows(_ address: String, under rules: [AddressRules]) -> Bool {
        rules.contains { $0.allow(address) }
    }

    /// True if some of the rules allow the address in a private network too.
    package static func allowsPrivate(_ address: String, under rules: [AddressRules]) -> Bool {
        rules.contains { $0.allowsPrivate && $0.allow(address) }
    }

    /// The host of an address in lower case, by which hosts are counted; nil for an address that cannot be fetched.
    package static func host(of address: String) -> String? { FetchURL(address)?.host }

    /// Requests the certificates.
    ///
    /// - Parameters:
    ///   - rules: the addresses that are allowed to the trunk whose call has named this one, and to no other trunk.
    ///   - known: the validators of the stored chain; nil without one, and then 304 is no response.
    ///   - now: seconds since 1970, for an `Expires` without a `Date`.
    package func response(
        of address: String, under rules: [AddressRules], known: CertificateFreshness?, at now: Int64
    ) async throws(CertificateProblem) -> Response {
        let accepted: HTTPHeaders = ["Accept": "application/pem-certificate-chain, */*;q=0.1"]
        switch try await get(address, under: rules, accepted, known, mostBytes: Self.mostBytes, total: total) {
        case .unchanged(let headers): return .unchanged(CertificateFreshness(headers, at: now))
        case .content(let headers, let body):
            return .chain(try Self.chain(in: body), CertificateFreshness(headers, at: now))
        }
    }

    /// Requests the list at an address that the operator has configured.
    ///
    /// - Parameters:
    ///   - rules: those of the regimes with the address.
    ///   - authorization: the value of Authorization; nil for none.
    ///   - known: as in `response`.
    package func list(
        _ kind: ListKind, at address: String, under rules: [AddressRules], authorization: String?,
        known: CertificateFreshness?, at now: Int64
    ) async throws(CertificateProblem) -> ListResponse {
        var headers: HTTPHeaders = ["Accept": "*/*"]
        if let authorization {
            guard address.hasPrefix("https://") else { throw .authorization("Authorization is sent over https alone") }
            headers.add(name: "Authorization", value: authorization)
        }
        // A test waits for no longer time than it has set.
        let total = total < Self.total ? total : Self.totalOfList
        switch try await get(address, under: rules, headers, known, mostBytes: Self.mostBytesOfList, total: total) {
        case .unchanged(let headers): return .unchanged(CertificateFreshness(headers, at: now))
        case .content(let headers, let body):
            return .list(try FetchedList(kind, in: body), CertificateFreshness(headers, at: now))
        }
    }

    private func get(
        _ address: String, under rules: [AddressRules], _ further: HTTPHeaders, _ known: CertificateFreshness?,
        mostBytes: Int, total: Duration
    ) async throws(CertificateProblem) -> CheckedGet.Response {
        guard Self.allows(address, under: rules), let url = FetchURL(address) else { throw .notAllowed }
        var headers: HTTPHeaders = ["User-Agent": "herald/\(version)"]
        headers.add(contentsOf: further)
        if let etag = known?.etag { headers.add(name: "If-None-Match", value: etag) }
        if let date = known?.lastModified { headers.add(name: "If-Modified-Since", value: date) }
        let get = CheckedGet(
            mostBytes: mostBytes, connect: min(Self.connect, total), total: total,
            allowsPrivate: Self.allowsPrivate(address, under: rules), roots: roots, resolve: resolve)
        do throws(FetchFailure) {
            return try await get.response(to: url, headers)
        } catch {
            throw .fetch(error)
        }
    }

    /// The chain in a body of PEM texts, with any text between them (RFC 7468 §2).
    static func chain(in body: [UInt8]) throws(CertificateProblem) -> [[UInt8]] {
        guard let text = String(validating: body, as: UTF8.self), text.contains("-----BEGIN ") else { throw .notPEM }
        var material = TrustMaterial()
        material.add(body, of: "the body")
        if let refusal = material.refusals.first { throw .chain("\(refusal.place) \(refusal.reason)") }
        guard material.authorities.isEmpty else {
            throw .chain("the first certificate is that of an authority, and the signer's must come first")
        }
        guard let chain = material.chains.first else { throw .notPEM }
        guard material.chains.count == 1 else { throw .chain("the body has the certificates of several signers") }
        return chain.certificates
    }
}
