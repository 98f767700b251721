// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SystemReasons

/// Why a connection to the directory failed, in words for an operator instead of the libraries' own errors.
enum ConnectionReason {
    /// Nil for what is no failure of a connection.
    static func text(_ error: any Error) -> String? {
        switch error {
        case is CancellationError: "stopped"
        case let error as HTTPClientError: error.shortDescription
        case let error as IOError: SystemReason.text(error.errnoCode)
        case let error as NIOConnectionError: text(error)
        case let error as ChannelError: text(error)
        case let error as NIOSSLError: text(error)
        case is NIOSSLExtraError: "its certificate is for another name than the one in directory.url"
        case let error as DirectoryIdentityError: error.description
        case is HTTPParserError: "what answers there speaks no HTTP"
        default: nil
        }
    }

    private static func text(_ error: NIOConnectionError) -> String? {
        if let first = error.connectionErrors.first { return text(first.error) }
        return "the name \(ServerText.clean(error.host)) cannot be resolved"
    }

    private static func text(_ error: ChannelError) -> String {
        if case .connectTimeout = error { return "no connection in time" }
        return "the connection ended"
    }

    private static func text(_ error: NIOSSLError) -> String {
        guard case .handshakeFailed(let cause) = error else { return "the TLS connection ended" }
        // The library says which errors it met in its description alone, the cause of the last one first.
        let words = "\(cause)".split { !($0.isLetter || $0.isNumber || $0 == "_") }
        let names = words.filter { $0.contains("_") && $0.allSatisfy { !$0.isLowercase } }
        if names.contains("CERTIFICATE_VERIFY_FAILED") {
            return "no trusted root vouches for its certificate, or it has expired; see directory.tls.roots"
        }
        if names.contains("WRONG_VERSION_NUMBER") { return "what answers there speaks no TLS; see directory.url" }
        return "the TLS handshake failed" + (names.first.map { " (\($0))" } ?? "")
    }
}
