// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import Host
import NIOCore
import NIOHTTP1
import NIOPosix

/// Describes a failed connection to a server of HTTP for an operator, without the libraries' own error texts.
enum ConnectionFailure {
    /// Returns nil if the error is no failure of a connection.
    ///
    /// - Parameters:
    ///   - url: the key with the address of the server.
    ///   - roots: the place of the trusted roots.
    static func text(
        _ error: any Error, url: String = "directory.url", roots: String = "directory.tls.roots"
    ) -> String? {
        switch error {
        case is CancellationError: "stopped"
        case let error as HTTPClientError: error.shortDescription
        case let error as IOError: SystemError.text(error.errnoCode)
        case let error as NIOConnectionError: text(error, url, roots)
        case let error as ChannelError: text(error)
        case let error as DirectoryIdentityError: error.description
        case let error as HTTPParserError where isEnd(error): "the connection ended before the response was complete"
        case is HTTPParserError: "the server does not speak HTTP"
        default: TLSFailure(error).map { text($0, url, roots) }
        }
    }

    /// True if no trusted root accepts the certificate of the server, for which there are several causes.
    static func isOfCertificate(_ error: any Error) -> Bool {
        if let error = error as? NIOConnectionError, let first = error.connectionErrors.first {
            return isOfCertificate(first.error)
        }
        return TLSFailure(error) == .untrusted
    }

    /// True if the connection ended within a response.
    static func isEnd(_ error: HTTPParserError) -> Bool {
        error == .invalidEOFState || error == .closedConnection
    }

    private static func text(_ error: NIOConnectionError, _ url: String, _ roots: String) -> String? {
        if let first = error.connectionErrors.first { return text(first.error, url: url, roots: roots) }
        return "the name \(ServerText.clean(error.host)) cannot be resolved"
    }

    private static func text(_ error: ChannelError) -> String {
        if case .connectTimeout = error { return "no connection in time" }
        return "the connection ended"
    }

    private static func text(_ reason: TLSFailure, _ url: String, _ roots: String) -> String {
        switch reason {
        case .untrusted: "no trusted root vouches for its certificate, or it has expired; see \(roots)"
        case .otherName: "its certificate is for another name than the one in \(url)"
        case .noTLS: "the server does not speak TLS; see \(url)"
        case .failed(let name): "the TLS handshake failed" + (name.map { " (\($0))" } ?? "")
        case .ended: "the TLS connection ended"
        }
    }
}
