// SPDX-License-Identifier: Apache-2.0

import Host
import NIOCore
public import SIPCore

/// A connection that could not be established, or that ended inside a message, with a text for the operator.
public struct StreamTrouble: Hashable, Sendable, CustomStringConvertible {
    /// The far end. The port of an incoming connection is left out, because it changes each time.
    public let remote: PeerAddress
    /// True if the gateway opened the connection.
    public let isMade: Bool
    /// True for an open connection that was closed.
    public let isClosing: Bool
    /// The cause and, if known, the key to change.
    public let reason: String

    public var description: String {
        isClosing
            ? "connection with \(remote.bareHostText) closed: \(reason)"
            : isMade
                ? "no connection to \(remote): \(reason)" : "no TLS connection from \(remote.bareHostText): \(reason)"
    }

    /// Describes why it could not be opened or secured.
    init(_ connection: StreamConnection, _ error: any Error, _ limits: StreamLimits) {
        self.init(connection, Self.reason(error, isMade: connection.origin == .made, limits))
    }

    /// Describes why an open connection is closed to save memory.
    ///
    /// - Parameter limit: bytes that the connections of the peer may hold.
    init(closing connection: StreamConnection, limit: Int) {
        self.init(
            connection,
            "the connections of its peer hold \(limit >> 20) MB, the share of one peer; the peer must finish its messages "
                + "and read responses, or this machine needs more memory", isClosing: true)
    }

    init(_ connection: StreamConnection, _ reason: String, isClosing: Bool = false) {
        let isMade = connection.origin == .made
        self.init(
            remote: isMade ? connection.remote : connection.remote.with(port: 0), isMade: isMade, reason: reason,
            isClosing: isClosing)
    }

    init(remote: PeerAddress, isMade: Bool, reason: String, isClosing: Bool = false) {
        self.remote = remote
        self.isMade = isMade
        self.reason = reason
        self.isClosing = isClosing
    }

    private static func reason(_ error: any Error, isMade: Bool, _ limits: StreamLimits) -> String {
        if let reason = TLSFailure(error) { return text(reason, isMade: isMade) }
        if let error = error as? IOError { return SystemError.text(error.errnoCode) }
        if case .connectTimeout? = error as? ChannelError { return "no response within \(limits.connect)" }
        return "it ended at once"
    }

    /// Describes why a certificate with these names does not match the required name.
    static func otherName(_ names: [String]) -> String {
        let isWildcard = names.contains { $0.hasPrefix("*.") }
        return "its certificate is for another name"
            + (isWildcard ? ", and a wildcard matches no SIP domain (RFC 5922 §7.2)" : "") + "; see certificate_name"
    }

    private static func text(_ reason: TLSFailure, isMade: Bool) -> String {
        switch reason {
        case .untrusted:
            "none of the roots vouches for its certificate, or it has expired; see listen.roots"
        case .otherName: otherName([])
        case .noTLS: "it speaks no TLS; see listen.transport"
        case .failed("PEER_DID_NOT_RETURN_A_CERTIFICATE"):
            "it shows no certificate, which listen.client_certificate asks for"
        case .failed(let name?): "the TLS handshake failed (\(name))"
        case .failed(nil), .ended: "it ended during the TLS handshake"
        }
    }
}

/// Limits the reports: each failure once until a connection with that far end succeeds, and at most one a second.
struct ReportedTroubles {
    private struct Way: Hashable {
        let remote: PeerAddress
        let isMade: Bool
    }

    /// Limit of remembered far ends. Beyond it failures are reported again.
    private static let most = 256

    private var reported: [Way: String] = [:]
    private var lastTime: NIODeadline?

    /// True if the failure must be reported now.
    mutating func isNews(_ trouble: StreamTrouble, _ now: NIODeadline = .now()) -> Bool {
        let way = Way(remote: trouble.remote, isMade: trouble.isMade)
        guard reported[way] != trouble.reason else { return false }
        // Left for the next failure: an unstable far end must not fill the log.
        if let lastTime, now - lastTime < .seconds(1) { return false }
        lastTime = now
        if reported.count >= Self.most { reported.removeAll() }
        reported[way] = trouble.reason
        return true
    }

    /// Records a successful connection.
    mutating func over(_ remote: PeerAddress, isMade: Bool) {
        guard !reported.isEmpty else { return }
        reported[Way(remote: isMade ? remote : remote.with(port: 0), isMade: isMade)] = nil
    }
}
