// SPDX-License-Identifier: Apache-2.0

public import Branding

/// The result of one datagram at the redirect door, for counters.
public enum RedirectEvent: Hashable, Sendable {
    /// 302 with a name.
    case matched
    /// An INVITE of a caller without a name.
    case unmatched(PassThroughReason)
    /// An INVITE with the mark of a redirection.
    case returned
    /// An INVITE whose Request-URI cannot be a Contact.
    case unusable
    /// 200 to an OPTIONS.
    case options
    /// 200 to a CANCEL.
    case cancelled
    /// Another method, or a request in a dialog.
    case refused
    /// A request that breaks a rule of SIP.
    case malformed
    case acknowledged
    /// A response, a keep-alive, or bytes that are no request.
    case ignored
    /// Above the rate of its source, with a response at the most for an INVITE.
    case limited
    /// Above the rate of its source, without a response.
    case dropped
    /// Of a source that no range allows.
    case notAllowed
    /// A response that the system did not send; its request has another result besides.
    case unsent

    /// The result as the value of a label: `matched`, a reason, or another word.
    public var label: String {
        switch self {
        case .matched: "matched"
        case .unmatched(let reason): reason.description
        case .returned: "returned"
        case .unusable: "unusable"
        case .options: "options"
        case .cancelled: "cancelled"
        case .refused: "refused"
        case .malformed: "malformed"
        case .acknowledged: "acknowledged"
        case .ignored: "ignored"
        case .limited: "limited"
        case .dropped: "dropped"
        case .notAllowed: "not_allowed"
        case .unsent: "unsent"
        }
    }
}

extension RedirectEvent {
    /// The result of a datagram that gets no response whoever sent it, by its first bytes: an ACK, a response, a keep-alive.
    ///
    /// Nil for other datagrams. Those may be a request.
    public init?(withoutResponse datagram: [UInt8]) {
        let text = datagram.drop { $0 <= 0x20 }
        if text.isEmpty || text.starts(with: "SIP/2.0 ".utf8) {
            self = .ignored
        } else if text.starts(with: "ACK ".utf8) {
            self = .acknowledged
        } else {
            return nil
        }
    }
}
