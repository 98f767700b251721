// SPDX-License-Identifier: Apache-2.0

import Primitives

/// One proxied request: the server transaction that received it, and the client transaction that forwarded it.
///
/// Kept by `ProxyTransactions` under the request's branch; one worker thread owns it (RFC 3261 §16.2). `OwnerState` is the
/// state that the owner of the table keeps with it.
public final class ProxyTransaction<OwnerState> {
    /// The key of the transaction, and the branch its request was forwarded with.
    public let branch: Branch
    /// The way the request arrived, by which its responses leave.
    public let flow: Flow
    /// The address of its responses (RFC 3261 §18.2.2).
    public let responseAddress: PeerAddress
    /// True when the request arrived by TCP or TLS.
    public let isSourceReliable: Bool
    /// True for an INVITE transaction.
    public let isInvite: Bool
    /// State of the dialog that the owner keeps in the route cookie.
    public let payload: RouteCookie.Payload
    /// The received From, for responses (RFC 3261 §8.2.6.2); empty when the forwarded one is the same.
    public let originalFrom: [UInt8]

    /// The received To, for responses; empty when the forwarded one is the same.
    public var originalTo: [UInt8] = []

    /// The targets to try after the present one.
    public var targets: TargetOrder
    /// The health of the present target; nil where the route alone decided.
    public var targetState: TargetState?
    /// True where another target is tried only if the request cannot be delivered: a dialog belongs to one target.
    public var hasFallback = false
    /// True for a request of the gateway itself, whose responses end here.
    public let isOwn: Bool
    /// True once the caller got a failure that the gateway made up itself.
    public var hasOwnFailure = false
    /// Number of the present attempt: 0 for the first target.
    public internal(set) var attempt: UInt8 = 0
    /// True after a provisional response above 100: no other target may be tried (RFC 3261 §16.7 step 4).
    public internal(set) var hasProgress = false

    /// The received request; nil after a final response.
    var request: SIPMessage?
    /// True while the 100 of an INVITE waits for the INVITE to be forwarded.
    var owesTrying = false
    /// The request as forwarded.
    var forwarded: [UInt8] = []
    public internal(set) var target: NextHop?
    /// The response kept for retransmission.
    var lastResponse: [UInt8] = []

    /// Nil until the table has opened the transaction.
    var server: ServerSide?
    var client = ClientSide.none
    /// The CANCEL sent for this INVITE.
    var cancel: [UInt8] = []
    /// The received CANCEL, whose Reason is forwarded.
    var receivedCancel: SIPMessage?
    /// Bytes that the table has counted for it; nil while it is not in the table.
    var countedBytes: Int?
    /// Handles of running timers: three slots for each of server, client and CANCEL.
    var timers = InlineArray<9, TimerHandle>(repeating: .none)
    /// The state that the owner keeps with the request.
    ///
    /// The last property: the places of the others do not depend on its size.
    public var ownerState: OwnerState

    public init(
        branch: Branch, request: SIPMessage, flow: Flow, transport: SIPTransportKind = .udp,
        payload: RouteCookie.Payload, ownerState: OwnerState, originalFrom: [UInt8],
        targets: TargetOrder = TargetOrder(), isOwn: Bool = false
    ) {
        self.branch = branch
        self.request = isOwn ? nil : request
        self.isOwn = isOwn
        self.flow = flow
        isSourceReliable = transport.isReliable
        self.targets = targets
        let source = flow.source
        responseAddress =
            request.topVia.map {
                ResponseForwarding.destination(ofResponsesTo: $0.value, from: source, by: transport)
            }
            ?? source
        self.payload = payload
        self.ownerState = ownerState
        self.originalFrom = originalFrom
        isInvite = request.method == .invite
    }

    /// Makes the transaction of a request of the gateway itself.
    ///
    /// - Parameter flow: the way by which its far end sent a response before.
    public convenience init(own request: SIPMessage, branch: Branch, flow: Flow, ownerState: OwnerState) {
        self.init(
            branch: branch, request: request, flow: flow, payload: RouteCookie.Payload(mark: 0),
            ownerState: ownerState, originalFrom: [], isOwn: true)
    }

    /// True while responses of the target belong to it: before the final response, and while retransmissions are expected.
    public var awaitsResponses: Bool { client.awaitsResponses }

    /// True when an attempt was abandoned for another target, or for none.
    public func hasGivenUp(_ attempt: UInt8) -> Bool { isInvite && attempt < self.attempt }

    /// True for an INVITE without a final response, which a CANCEL can still end.
    public var isPending: Bool { client.isPendingInvite }

    /// The received request; nil after the final response.
    public var pendingRequest: SIPMessage? { request }

    /// True when the caller or timer C cancelled it: no other target is tried.
    public var isCancelled: Bool { client.isCancelled }

    /// The forwarded request, from which ACK, CANCEL and the next attempt are made.
    ///
    /// Indexed without limits: the received request passed them, and the gateway's own fields may exceed them.
    public var forwardedRequest: SIPMessage? {
        try? SIPMessage.index(forwarded, limits: .none)
    }

    /// Bytes of the request as forwarded.
    public var forwardedBytes: Int { forwarded.count }

    /// Bytes of the messages it holds now, with their lists of fields.
    var heldBytes: Int {
        (request?.heldBytes ?? 0) + (receivedCancel?.heldBytes ?? 0) + originalFrom.count + forwarded.count
            + lastResponse.count + cancel.count
    }

    /// True when neither side waits for anything.
    var isOver: Bool { server?.isTerminated ?? true && client.isOver }

    /// Releases the messages that only a pending request needs.
    func releaseRequest() {
        request = nil
        receivedCancel = nil
    }

    /// Releases bytes that are never sent again once a final response has gone upstream.
    ///
    /// Transactions stay for 32 s. At 1,000 calls/s the bytes would take a hundred megabytes. A rejected INVITE keeps its
    /// request to acknowledge repeated responses (RFC 3261 §17.1.1.2). An INVITE with several attempts keeps it for the
    /// responses of earlier targets. Every final response but a 2xx to an INVITE is kept for retransmission (RFC 6026 §7.1,
    /// RFC 3261 §17.2.2).
    func releaseMessages(afterFinal status: Int) {
        if isInvite, status >= 300 { return }
        if !isInvite || attempt == 0 { forwarded = [] }
        if isInvite { lastResponse = [] }
    }
}

/// The machine of a transaction that a timer or an effect belongs to.
enum TransactionRole: UInt8 {
    case server = 0
    case client = 1
    case cancel = 2
}
