// SPDX-License-Identifier: Apache-2.0

/// An event of a server transaction after its start.
public enum ServerTransactionEvent: Hashable, Sendable {
    /// The same request arrived again.
    case request
    /// An ACK that matches the INVITE arrived.
    case ack
    /// The proxy core responds with this status code.
    case respond(Int)
    /// A timer that the transaction started has run out.
    case fired(TransactionTimer)
    /// A response could not be sent.
    case transportFailed
}

/// An event of a client transaction after its start.
public enum ClientTransactionEvent: Hashable, Sendable {
    /// A response with this status code arrived.
    case response(Int)
    /// The proxy core wants the INVITE cancelled.
    case cancel
    /// A timer that the transaction started has run out.
    case fired(TransactionTimer)
    /// The request or the ACK could not be sent.
    case transportFailed
}

/// The three kinds of response that the state machines of RFC 3261 §17 distinguish.
enum ResponseKind {
    /// 100 to 199.
    case provisional
    /// 200 to 299.
    case success
    /// 300 to 699.
    case failure

    /// Sorts a status code; nil for what no SIP response can carry (§21), which every machine absorbs.
    init?(_ status: Int) {
        switch status {
        case 100..<200: self = .provisional
        case 200..<300: self = .success
        case 300..<700: self = .failure
        default: return nil
        }
    }
}
