// SPDX-License-Identifier: Apache-2.0

/// One request on its way through the proxy: the server transaction it came in, the client transaction it went out.
///
/// Kept by `ProxyTransactions` under the request's branch; one worker thread owns it (RFC 3261 §16.2).
package final class ProxyTransaction {
    /// The key of the transaction, and the branch its request was forwarded with.
    package let branch: Branch
    /// Where the request came from.
    package let source: PeerAddress
    /// Where responses go, and the socket the request came in by, which they leave from.
    package let answersTo: PeerAddress
    package let sourceSocket: Int
    /// True for an INVITE transaction.
    package let isInvite: Bool
    /// What the gateway knows of the dialog.
    package let note: DialogNote
    /// The call this belongs to, in the owner's words; zero where it belongs to none.
    package let call: (high: UInt64, low: UInt64)
    /// Statuses the owner has already reported, in the owner's words.
    package var reported: UInt8 = 0

    /// From as the sender wrote it, for responses (RFC 3261 §8.2.6.2); empty when the forwarded one is the same.
    package let originalFrom: [UInt8]

    /// The received request, until a final answer makes it needless.
    var request: SIPMessage?
    /// The request as forwarded, and where to.
    var forwarded: [UInt8] = []
    var target: PeerAddress?
    var targetSocket = 0
    /// The response kept for retransmission.
    var lastResponse: [UInt8] = []

    var inviteServer: InviteServerTransaction?
    var inviteClient: InviteClientTransaction?
    var otherServer: NonInviteServerTransaction?
    var otherClient: NonInviteClientTransaction?
    /// The CANCEL sent for this INVITE, a transaction of its own (RFC 3261 §9.1).
    var cancelClient: NonInviteClientTransaction?
    var cancel: [UInt8] = []
    /// The CANCEL received, whose Reason goes on.
    var receivedCancel: SIPMessage?
    /// Handles of running timers: three slots for each of server, client and CANCEL.
    var timers = InlineArray<9, TimerHandle>(repeating: .none)

    package init(
        branch: Branch, request: SIPMessage, source: PeerAddress, sourceSocket: Int, note: DialogNote,
        call: (high: UInt64, low: UInt64), originalFrom: [UInt8]
    ) {
        self.branch = branch
        self.request = request
        self.source = source
        answersTo =
            ViaValue.top(of: request).map { ResponseForwarding.destination(ofAnswersTo: $0.value, from: source) }
            ?? source
        self.sourceSocket = sourceSocket
        self.note = note
        self.call = call
        self.originalFrom = originalFrom
        isInvite = request.method == .invite
    }

    /// True while responses of the target still belong to it: before its final answer, and while repeats are expected.
    package var awaitsResponses: Bool {
        inviteClient.map { $0.state != .terminated } ?? otherClient.map { $0.state != .terminated } ?? false
    }

    /// True while the target has given no final answer, so that a CANCEL still means something.
    package var isPending: Bool {
        guard let inviteClient else { return false }
        return inviteClient.state == .calling || inviteClient.state == .proceeding
    }

    /// The received request while it waits for its final answer; nil afterwards.
    package var pendingRequest: SIPMessage? { request }

    /// The INVITE as forwarded, from which its ACK and CANCEL are made.
    ///
    /// Without limits: it passed them when it came in, and the gateway's own fields may have taken it past them.
    var forwardedInvite: SIPMessage? {
        try? SIPMessage.index(
            forwarded, limits: SIPLimits(messageBytes: .max, headerFields: .max, headerBytes: .max))
    }

    /// True when nothing of it waits for anything any more.
    var isOver: Bool {
        inviteServer.map { $0.state == .terminated } ?? true && inviteClient.map { $0.state == .terminated } ?? true
            && otherServer.map { $0.state == .terminated } ?? true
            && otherClient.map { $0.state == .terminated } ?? true
            && cancelClient.map { $0.state == .terminated } ?? true
    }

    /// Lets go of what only a pending request needs; 32 s of absorbing retransmissions need neither.
    func releaseRequest() {
        request = nil
        receivedCancel = nil
    }

    /// Lets go of bytes that will never be sent again once a final answer has gone upstream.
    ///
    /// Transactions stay for 32 s more; without this they hold some 3 kB each, at 1,000 calls/s a hundred megabytes. A
    /// refused INVITE keeps its request, because each repeated answer is acknowledged with it (RFC 3261 §17.1.1.2), and
    /// every final answer but a 2xx to an INVITE is repeated on demand (RFC 6026 §7.1, RFC 3261 §17.2.2).
    func releaseMessages(afterFinal status: Int) {
        if isInvite, status >= 300 { return }
        forwarded = []
        if isInvite { lastResponse = [] }
    }
}

/// Which of a transaction's machines a timer or an effect belongs to.
enum TransactionRole: UInt8 {
    case server = 0
    case client = 1
    case cancel = 2
}
