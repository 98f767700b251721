// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftASN1
import X509

/// Certificates, lists and addresses out of files, sorted by their form. Nothing in them is verified.
///
/// A file is one of: PEM texts with lines `x5u: ADDRESS` before the chain of an address (RFC 7468 §2 permits such lines),
/// one certificate or revocation list in DER, a list of authorities in the form of the STI-PA, or addresses, one a line.
package struct TrustMaterial: Sendable {
    /// A chain of certificates in DER, leaf first.
    package struct Chain: Sendable {
        package var address: String?
        package var certificates: [[UInt8]]
        /// File and line, for the operator.
        package var place: String

        package init(address: String?, certificates: [[UInt8]], place: String) {
            self.address = address
            self.certificates = certificates
            self.place = place
        }
    }

    /// A part of a file that is not taken in.
    package struct Refusal: Equatable, Sendable {
        package var place: String
        /// The cause and the remedy.
        package var reason: String

        package init(place: String, reason: String) {
            self.place = place
            self.reason = reason
        }
    }

    /// Chains that begin with a leaf.
    package private(set) var chains: [Chain] = []
    /// Certificates of authorities in DER.
    package private(set) var authorities: [[UInt8]] = []
    /// Signed lists of authorities, with the place of each.
    package private(set) var lists: [(token: String, place: String)] = []
    /// Revocation lists in DER, with the place of each.
    package private(set) var revocations: [(der: [UInt8], place: String)] = []
    /// Addresses of certificates.
    package private(set) var addresses: [String] = []
    /// Places of chains that did not have their leaf first, or another certificate behind that of its issuer.
    package private(set) var sorted: [String] = []
    /// Parts that are none of these.
    package private(set) var refusals: [Refusal] = []

    /// The most lines of a list that are reported one by one.
    private static let mostUnknownLines = 20

    /// The most certificates of a chain (RFC 8555 has no limit; six are more than any published chain).
    static let mostCertificates = 6

    /// Material of chains alone.
    package init(_ chains: [Chain] = []) { self.chains = chains }

    /// Adds the contents of a file.
    package mutating func add(_ bytes: [UInt8], of file: String) {
        guard let text = String(validating: bytes, as: UTF8.self), bytes.first != 0x30 || text.contains("-----BEGIN")
        else {
            return addBinary(bytes, file)
        }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed.hasPrefix("{") || AuthorityListToken.isToken(trimmed) {
            lists.append((trimmed, file))
        } else {
            addLines(text, file)
        }
    }

    private mutating func addBinary(_ bytes: [UInt8], _ file: String) {
        if RevocationList(der: bytes) != nil {
            revocations.append((bytes, file))
        } else if (try? Certificate(derEncoded: bytes)) != nil {
            close(Chain(address: nil, certificates: [bytes], place: file))
        } else {
            refuse(file, "neither PEM, DER, a list of authorities nor addresses")
        }
    }

    private mutating func addLines(_ text: String, _ file: String) {
        var chain = Chain(address: nil, certificates: [], place: file)
        var block: (label: String, line: Int, text: String)?
        var (unknown, count) = ([String](), 0)
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            let place = "\(file):\(index + 1)"
            if let open = block {
                guard line.hasPrefix("-----END ") else {
                    block?.text += line
                    continue
                }
                block = nil
                take(open.label, open.text, "\(file):\(open.line)", &chain)
            } else if line.hasPrefix("-----BEGIN "), line.hasSuffix("-----") {
                block = (String(line.dropFirst(11).dropLast(5)), index + 1, "")
                count += 1
            } else if line.lowercased().hasPrefix("x5u:") {
                close(chain)
                let address = line.dropFirst(4).trimmingCharacters(in: .whitespaces)
                chain = Chain(address: address, certificates: [], place: place)
                count += 1
            } else if line.hasPrefix("https://") || line.hasPrefix("http://") {
                addresses.append(line)
                count += 1
            } else if !line.isEmpty, !line.hasPrefix("#") {
                unknown.append(place)
            }
        }
        if let block { refuse("\(file):\(block.line)", "the block \(block.label) has no end") }
        close(chain)
        if count == 0 {
            return refuse(file, unknown.isEmpty ? "is empty" : "neither PEM, DER, a list of authorities nor addresses")
        }
        // Between certificates any text may be (RFC 7468 §2), in a list of addresses none.
        guard !text.contains("-----BEGIN ") else { return }
        for place in unknown.prefix(Self.mostUnknownLines) {
            refuse(place, "is no address: it begins with neither https:// nor http://")
        }
    }

    /// Takes one PEM block. A leaf begins a chain of its own, unless the chain of an address still lacks its leaf.
    private mutating func take(_ label: String, _ text: String, _ place: String, _ chain: inout Chain) {
        guard let data = Data(base64Encoded: text) else { return refuse(place, "is not base64") }
        switch label {
        case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE":
            let der = Array(data)
            let hasLeaf = chain.address == nil || chain.certificates.contains { !CertificateFacts.isAuthority($0) }
            if !chain.certificates.isEmpty, hasLeaf, !CertificateFacts.isAuthority(der) {
                close(chain)
                chain = Chain(address: nil, certificates: [], place: place)
            }
            if chain.certificates.isEmpty, chain.address == nil { chain.place = place }
            chain.certificates.append(der)
        case "X509 CRL": revocations.append((Array(data), place))
        case let label where label.hasSuffix("PRIVATE KEY"):
            refuse(place, "is a private key, which no verifier needs; remove it from the file")
        default: refuse(place, "\(label) is no certificate and no revocation list")
        }
    }

    private mutating func close(_ chain: Chain) {
        guard let first = chain.certificates.first else {
            if chain.address != nil { refuse(chain.place, "no certificate follows this address") }
            return
        }
        if chain.address == nil, CertificateFacts.isAuthority(first) {
            authorities += chain.certificates
        } else if chain.certificates.count > Self.mostCertificates {
            refuse(
                chain.place,
                "a chain has at most \(Self.mostCertificates) certificates, and this one \(chain.certificates.count)")
        } else {
            var chain = chain
            let certificates = ChainOrder.sorted(chain.certificates)
            if certificates != chain.certificates { sorted.append(chain.place) }
            chain.certificates = certificates
            chains.append(chain)
        }
    }

    private mutating func refuse(_ place: String, _ reason: String) {
        refusals.append(Refusal(place: place, reason: reason))
    }
}
