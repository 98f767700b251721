// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOSSL
import SwiftASN1
import X509

/// The names of a server's certificate, as a client compares them (RFC 9525 §6).
///
/// TLS libraries take the common name of a certificate without alternative names, and wildcards of any kind. An authority
/// checks neither as it checks an alternative name.
struct ServerNames {
    /// The host names and addresses of the subject's alternative names.
    let all: [String]

    init(_ certificate: Certificate) {
        let alternatives = (try? certificate.extensions.subjectAlternativeNames) ?? SubjectAlternativeNames([])
        all = alternatives.compactMap { name in
            switch name {
            case .dnsName(let text): text
            case .ipAddress(let bytes):
                (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes.bytes), port: 0))?.ipAddress
            default: nil
            }
        }
    }

    /// True if one of the names is that of a host.
    func include(_ host: String) -> Bool { all.contains { Self.matches($0.lowercased(), host.lowercased()) } }

    /// RFC 9525 §6.3: a wildcard is the whole first label and replaces one label; a domain of two labels follows.
    private static func matches(_ name: String, _ host: String) -> Bool {
        guard name.contains("*") else { return name == host }
        let domain = name.dropFirst()
        guard name.hasPrefix("*."), !domain.contains("*"), domain.dropFirst().contains(".") else { return false }
        return !host.hasPrefix(".") && host.drop { $0 != "." } == domain
    }

    /// Fails for a connection whose peer has shown no certificate with the name of a host.
    static func check(_ channel: any Channel, for host: String) -> EventLoopFuture<Void> {
        channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
            guard let certificate, let read = try? Certificate(derEncoded: certificate.toDERBytes()),
                ServerNames(read).include(host)
            else { throw DirectoryIdentityError(objection) }
        }.always { result in
            if case .failure = result { channel.close(promise: nil) }
        }
    }

    /// The reason to reject a certificate without the name of the directory.
    static let objection =
        "its certificate is for another name than the one in directory.url; the common name and wide wildcards do not count"
}
