// SPDX-License-Identifier: Apache-2.0

import NIOSSL

/// Why TLS with a far end came to nothing, as the library's errors tell it; each edge puts it into its own words.
package enum TLSReason: Hashable, Sendable {
    /// No trusted root vouches for its certificate, or it has expired.
    case untrusted
    /// Its certificate is for another name than the one asked for.
    case otherName
    /// What answers there speaks no TLS.
    case noTLS
    /// The handshake failed otherwise: the library's name of the error, as `TLSV1_ALERT_UNKNOWN_CA`, where it has one.
    case failed(String?)
    /// The connection was cut without the end TLS has.
    case ended

    /// Reads an error of the library; nil for any other.
    package init?(_ error: any Error) {
        switch error {
        case is NIOSSLExtraError: self = .otherName
        case NIOSSLError.handshakeFailed(let cause): self.init(causes: "\(cause)")
        case let error as BoringSSLError: self.init(causes: "\(error)")
        case is NIOSSLError: self = .ended
        default: return nil
        }
    }

    /// The library says which errors it met in its description alone, the cause of the last one first.
    private init(causes: String) {
        let words = causes.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        let names = words.filter { $0.contains("_") && $0.allSatisfy { !$0.isLowercase } }
        if names.contains("CERTIFICATE_VERIFY_FAILED") {
            self = .untrusted
        } else if names.contains("WRONG_VERSION_NUMBER") {
            self = .noTLS
        } else {
            self = .failed(names.first.map(String.init))
        }
    }
}
