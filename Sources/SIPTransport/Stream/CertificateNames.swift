// SPDX-License-Identifier: Apache-2.0

import NIOSSL
import SIPCore
import SwiftASN1
import X509

extension PeerCertificate {
    /// Collects the names of a verified certificate (RFC 5922 §7.1).
    ///
    /// Uses the SIP URIs of its alternative names, or else the host names, or else the common name.
    convenience init?(_ certificate: NIOSSLCertificate) {
        guard let bytes = try? certificate.toDERBytes(), let parsed = try? Certificate(derEncoded: bytes) else {
            return nil
        }
        var hosts: [String] = []
        var domains: [String] = []
        if let alternatives = try? parsed.extensions.subjectAlternativeNames {
            for name in alternatives {
                switch name {
                case .dnsName(let host): hosts.append(host)
                case .uniformResourceIdentifier(let uri) where uri.lowercased().hasPrefix("sip:"):
                    domains.append(String(uri.dropFirst(4)))
                default: break
                }
            }
        }
        // RFC 5922 §7.1: if SIP URIs are given, host names are ignored.
        var names = domains.isEmpty ? hosts : domains
        if names.isEmpty {
            for attribute in parsed.subject.flatMap({ $0 }) where attribute.type == .RDNAttributeType.commonName {
                names.append(attribute.value.description)
            }
        }
        self.init(names: names)
    }

    /// True if the certificate is for a SIP domain.
    ///
    /// Only equal names match: a wildcard matches no SIP domain (RFC 5922 §7.2). TLS libraries accept wildcards, so
    /// Herald compares the names itself; the library checks the chain and the dates. A target whose certificate has a
    /// wildcard gets nothing, until `certificate_name` names another name of the certificate.
    func proves(_ domain: String) -> Bool {
        names.contains(domain.lowercased()) && !domain.contains("*")
    }
}
