// SPDX-License-Identifier: Apache-2.0

import HostSystem
import NIOCore
package import SIPCore
import TLSReasons

/// A failed connection, described for operators.
package struct StreamTrouble: Hashable, Sendable, CustomStringConvertible {
    /// The peer's address.
    ///
    /// Without the port for incoming connections, whose port changes each time.
    package let remote: PeerAddress
    /// True for outgoing connections.
    package let isMade: Bool
    /// The cause and, if known, the key to change.
    package let reason: String

    package var description: String {
        isMade ? "no connection to \(remote): \(reason)" : "no TLS connection from \(remote.bareHostText): \(reason)"
    }

    /// Describes why a connection could not be opened or secured.
    init(_ connection: StreamConnection, _ error: any Error, _ limits: StreamLimits) {
        self.init(connection, Self.reason(error, isMade: connection.origin == .made, limits))
    }

    init(_ connection: StreamConnection, _ reason: String) {
        let isMade = connection.origin == .made
        self.init(
            remote: isMade ? connection.remote : connection.remote.with(port: 0), isMade: isMade, reason: reason)
    }

    init(remote: PeerAddress, isMade: Bool, reason: String) {
        self.remote = remote
        self.isMade = isMade
        self.reason = reason
    }

    private static func reason(_ error: any Error, isMade: Bool, _ limits: StreamLimits) -> String {
        if let reason = TLSReason(error) { return text(reason, isMade: isMade) }
        if let error = error as? IOError { return SystemReason.text(error.errnoCode) }
        if case .connectTimeout? = error as? ChannelError { return "nobody answered within \(limits.connect)" }
        return "it ended at once"
    }

    /// Describes a certificate whose names do not match the required name.
    static func otherName(_ names: [String]) -> String {
        let isWildcard = names.contains { $0.hasPrefix("*.") }
        return "its certificate is for another name"
            + (isWildcard ? ", and a wildcard stands for no SIP domain (RFC 5922 §7.2)" : "") + "; see certificate_name"
    }

    private static func text(_ reason: TLSReason, isMade: Bool) -> String {
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

/// Suppresses repeated reports.
///
/// Each failure is reported once until its peer connects, and at most one per second.
struct ToldTroubles {
    private struct Way: Hashable {
        let remote: PeerAddress
        let isMade: Bool
    }

    /// The limit of remembered peers.
    ///
    /// Above it they are reported again.
    private static let most = 256

    private var told: [Way: String] = [:]
    private var lastTime: NIODeadline?

    /// True if the failure is to be reported now.
    mutating func isNews(_ trouble: StreamTrouble, _ now: NIODeadline = .now()) -> Bool {
        let way = Way(remote: trouble.remote, isMade: trouble.isMade)
        guard told[way] != trouble.reason else { return false }
        // Skipped failures are reported when they recur, so that an unstable peer does not flood the log.
        if let lastTime, now - lastTime < .seconds(1) { return false }
        lastTime = now
        if told.count >= Self.most { told.removeAll() }
        told[way] = trouble.reason
        return true
    }

    /// Forgets the failures of a peer that has connected.
    mutating func over(_ remote: PeerAddress, isMade: Bool) {
        guard !told.isEmpty else { return }
        told[Way(remote: isMade ? remote : remote.with(port: 0), isMade: isMade)] = nil
    }
}
