// SPDX-License-Identifier: Apache-2.0

import NIOSSL

/// Why a TLS handshake failed, read from the library's errors; each user writes its own text.
public enum TLSFailure: Hashable, Sendable {
    /// The certificate is not under a trusted root, or has expired.
    case untrusted
    /// The certificate is for another name than the requested one.
    case otherName
    /// The server does not speak TLS.
    case noTLS
    /// Another failure of the handshake, with the library's name of the error, if any, such as
    /// `TLSV1_ALERT_UNKNOWN_CA`.
    case failed(String?)
    /// The connection ended without the end of TLS.
    case ended

    /// Reads an error of the library; nil for any other error.
    public init?(_ error: any Error) {
        switch error {
        case is NIOSSLExtraError: self = .otherName
        case NIOSSLError.handshakeFailed(let cause): self.init(causes: "\(cause)")
        case let error as BoringSSLError: self.init(causes: "\(error)")
        case is NIOSSLError: self = .ended
        default: return nil
        }
    }

    /// Only the description names the library's errors, the last cause first.
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
