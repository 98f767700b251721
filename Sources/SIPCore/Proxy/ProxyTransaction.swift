// SPDX-License-Identifier: Apache-2.0

/// One request on its way through the proxy: the server transaction it came in, the client transaction it went out.
///
/// Kept by `ProxyTransactions` under the request's branch; one worker thread owns it (RFC 3261 §16.2).
package final class ProxyTransaction {
    /// The key of the transaction, and the branch its request was forwarded with.
    package let branch: Branch
    /// How the request came in: its responses leave the same way.
    package let flow: Flow
    /// Where responses go (RFC 3261 §18.2.2).
    package let answersTo: PeerAddress
    /// True when the request came by TCP or TLS.
    package let isSourceReliable: Bool
    /// True for an INVITE transaction.
    package let isInvite: Bool
    /// State of the dialog that the owner keeps in the route cookie.
    package let payload: RouteCookie.Payload
    /// The call this belongs to, in the owner's words; zero where it belongs to none.
    package let call: (high: UInt64, low: UInt64)
    /// Statuses the owner has already reported, in the owner's words.
    package var reported: UInt8 = 0
    /// When the owner has last reported one, in monotonic seconds.
    package var reportedAt: UInt32 = 0

    /// The request is a REGISTER into whose Path the owner has put its address (RFC 3327 §5.2).
    package var carriesPath = false

    /// From as the sender wrote it, for responses (RFC 3261 §8.2.6.2); empty when the forwarded one is the same.
    package let originalFrom: [UInt8]

    /// The targets that may be tried, the present one taken out already.
    package var targets: TargetOrder
    /// The health of the target the request is at; nil where its route alone decided.
    package var standing: TargetStanding?
    /// Number of the present attempt: 0 for the first target.
    package internal(set) var attempt: UInt8 = 0
    /// The target answered more than 100, so no other may be tried (RFC 3261 §16.7 step 4 made one at a time).
    package internal(set) var hasProgress = false

    /// The received request, until a final answer makes it needless.
    var request: SIPMessage?
    /// True while the 100 of an INVITE waits for the INVITE to be sent on.
    var owesTrying = false
    /// The request as forwarded, and where to.
    var forwarded: [UInt8] = []
    package internal(set) var target: NextHop?
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
    /// Bytes of the messages it holds as the table has counted them; nil while it is not in the table.
    var countedBytes: Int?
    /// Handles of running timers: three slots for each of server, client and CANCEL.
    var timers = InlineArray<9, TimerHandle>(repeating: .none)

    package init(
        branch: Branch, request: SIPMessage, flow: Flow, transport: SIPTransportKind = .udp,
        payload: RouteCookie.Payload, call: (high: UInt64, low: UInt64), originalFrom: [UInt8], targets: TargetOrder = TargetOrder()
    ) {
        self.branch = branch
        self.request = request
        self.flow = flow
        isSourceReliable = transport.isReliable
        self.targets = targets
        let source = flow.source
        answersTo =
            request.topVia.map {
                ResponseForwarding.destination(ofAnswersTo: $0.value, from: source, by: transport)
            }
            ?? source
        self.payload = payload
        self.call = call
        self.originalFrom = originalFrom
        isInvite = request.method == .invite
    }

    /// True while responses of the target still belong to it: before its final answer, and while repeats are expected.
    package var awaitsResponses: Bool {
        inviteClient.map { $0.state != .terminated } ?? otherClient.map { $0.state != .terminated } ?? false
    }

    /// True when it begins a call of its owner's.
    package var isCall: Bool { isInvite && call != (0, 0) }

    /// True when an attempt was left for another target, or for none.
    package func hasGivenUp(_ attempt: UInt8) -> Bool { isInvite && attempt < self.attempt }

    /// True while the target has given no final answer, so that a CANCEL still means something.
    package var isPending: Bool {
        guard let inviteClient else { return false }
        return inviteClient.state == .calling || inviteClient.state == .proceeding
    }

    /// The received request while it waits for its final answer; nil afterwards.
    package var pendingRequest: SIPMessage? { request }

    /// True when the caller or timer C has given up, so that no other target is tried.
    package var isCancelled: Bool { inviteClient?.isCancelled ?? false }

    /// The request as forwarded, from which an INVITE's ACK and CANCEL and the next attempt are made.
    ///
    /// Without limits: it passed them when it came in, and the gateway's own fields may have taken it past them.
    package var forwardedRequest: SIPMessage? {
        try? SIPMessage.index(
            forwarded, limits: SIPLimits(messageBytes: .max, headerFields: .max, headerBytes: .max))
    }

    /// Bytes of the messages it holds now, with their lists of fields.
    var heldBytes: Int {
        (request?.heldBytes ?? 0) + (receivedCancel?.heldBytes ?? 0) + originalFrom.count + forwarded.count
            + lastResponse.count + cancel.count
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
    /// refused INVITE keeps its request, because each repeated answer is acknowledged with it (RFC 3261 §17.1.1.2), one
    /// that was tried at several targets because what the others still say is acknowledged or cancelled with it, and
    /// every final answer but a 2xx to an INVITE is repeated on demand (RFC 6026 §7.1, RFC 3261 §17.2.2).
    func releaseMessages(afterFinal status: Int) {
        if isInvite, status >= 300 { return }
        if !isInvite || attempt == 0 { forwarded = [] }
        if isInvite { lastResponse = [] }
    }
}

/// Which of a transaction's machines a timer or an effect belongs to.
enum TransactionRole: UInt8 {
    case server = 0
    case client = 1
    case cancel = 2
}
