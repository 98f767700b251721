// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The owner of the proxy, which receives events of its transactions.
public protocol TransactionUser: AnyObject {
    /// The state that the owner keeps with each transaction.
    associatedtype OwnerState
    /// Handles a response above 100 of the target (RFC 3261 §16.7 step 5).
    func deliver(_ response: SIPMessage, to transaction: ProxyTransaction<OwnerState>, at now: Moment)
    /// Whether a phone rings for an INVITE, though no response has come to this element.
    func rings(_ transaction: ProxyTransaction<OwnerState>) -> Bool
    /// Tries another target, or responds itself, after the target did not respond in time (RFC 3261 §16.8).
    func targetTimedOut(_ transaction: ProxyTransaction<OwnerState>, at now: Moment)
    /// Handles a request that could not be delivered, which counts as a 503 of the target (RFC 3261 §16.9).
    func targetUnreachable(_ transaction: ProxyTransaction<OwnerState>, at now: Moment)
}

/// The proxy's transactions by branch, and the effects of their state machines.
///
/// Owned by one worker thread. A restart loses them all and no call: messages without a transaction are forwarded
/// statelessly (RFC 3261 §16.11).
public final class ProxyTransactions<User: TransactionUser> {
    public typealias Transaction = ProxyTransaction<User.OwnerState>

    /// Messages waiting to be sent.
    public var outgoing: [OutgoingMessage] = []
    /// Receives deliveries; it owns this table.
    public unowned var user: User?
    /// The timers of transactions that begin from now on; those in progress keep theirs.
    public var timing: TransactionTimers
    private let capacity: Int
    /// Bytes of the messages of all transactions, with their header indexes.
    public private(set) var heldBytes = 0
    var byBranch = BranchTable<User.OwnerState>()
    var wheel: TimerWheel
    var now: Moment

    /// Average bytes of a transaction in a full table: nearly twice those of a pending INVITE of a SIP trunk.
    public static var bytesOfOne: Int { 6_144 }

    /// Makes an empty table; `capacity` bounds the transactions, and with `bytesOfOne` their bytes.
    public init(timers: TransactionTimers, capacity: Int, now: Moment) {
        timing = timers
        self.capacity = capacity
        self.now = now
        // This reserves address space alone: the array takes memory as it fills. Growing it later would copy it on the call path.
        wheel = TimerWheel(now: now.milliseconds, capacity: min(4 * capacity, 1 << 20))
        outgoing.reserveCapacity(64)
    }

    /// Moves the messages to send to the end of `out`.
    public func moveOutgoing(to out: inout [OutgoingMessage]) {
        guard !outgoing.isEmpty else { return }
        if out.isEmpty { return swap(&out, &outgoing) }
        out.append(contentsOf: outgoing)
        outgoing.removeAll(keepingCapacity: true)
    }

    /// Number of transactions.
    public var count: Int { byBranch.count }
    /// True when no more requests should be taken; requests of present dialogs have twice the capacity.
    public func isFull(forDialogs: Bool = false) -> Bool {
        let most = forDialogs ? capacity * 2 : capacity
        return byBranch.count >= most || heldBytes >= most * Self.bytesOfOne
    }
    /// The time of the next `fireTimers`; nil without timers.
    public var nextDeadline: UInt64? { wheel.nextDeadline }

    /// The transaction of a branch, if it is in memory.
    public subscript(branch: Branch) -> Transaction? { byBranch[branch] }

    /// Starts the server side of a new request; an INVITE gets a 100 after `forward`.
    ///
    /// An earlier response replaces the 100 (RFC 3261 §17.2.1).
    public func open(_ transaction: Transaction, at now: Moment) {
        self.now = now
        byBranch[transaction.branch] = transaction
        transaction.countedBytes = 0
        var server = ServerSide(
            isInvite: transaction.isInvite, timers: timing, isReliable: transaction.isSourceReliable)
        let effects = server.start()
        transaction.server = server
        perform(effects, .server, transaction, nil)
    }

    /// Sends the request to its target and starts the client side (RFC 3261 §16.6 step 10).
    ///
    /// - Parameter patience: time the target has to respond when another could be tried; nil for timer B or F.
    public func forward(
        _ transaction: Transaction, as bytes: [UInt8], to target: NextHop, patience: TimerDelay? = nil,
        at now: Moment
    ) {
        self.now = now
        transaction.forwarded = bytes
        transaction.target = target
        transaction.client = ClientSide(
            isInvite: transaction.isInvite, timers: timing, isReliable: target.isReliable, patience: patience)
        perform(transaction.client.start(), .client, transaction, nil)
        if transaction.owesTrying { sendTrying(transaction) }
        weigh(transaction)
    }

    /// Sends a request of the gateway itself, which has no server side.
    public func begin(_ transaction: Transaction, as bytes: [UInt8], to target: NextHop, at now: Moment) {
        byBranch[transaction.branch] = transaction
        transaction.countedBytes = 0
        forward(transaction, as: bytes, to: target, at: now)
    }

    /// Abandons the present target and sends the request to the next one, as a client transaction of its own
    /// (RFC 3261 §16.7 step 4, §16.9).
    ///
    /// - Parameters:
    ///   - sockets: the local sockets by position, for the Via of the new attempt.
    ///   - secret: seals the dialog's cookie, which names the new target.
    /// - Returns: false, without effect, when the forwarded request is no longer kept.
    public func retry(
        _ transaction: Transaction, at target: NextHop, sockets: [LocalSocket], secret: Secret,
        patience: TimerDelay?, at now: Moment
    ) -> Bool {
        guard let old = transaction.target, let request = transaction.forwardedRequest else { return false }
        let socket = sockets[target.socket]
        let change = TargetChange(
            old: sockets[old.socket], sourceSocket: sockets[transaction.flow.socket], socket: socket,
            target: DialogEnd(address: target.address, transport: socket.transport), secret: secret)
        guard
            let bytes = RequestForwarding.readdressed(
                request, branch: transaction.branch, attempt: transaction.attempt + 1, change)
        else { return false }
        giveUp(transaction)
        forward(transaction, as: bytes, to: target, patience: patience, at: now)
        return true
    }

    /// Abandons the last target: its later responses are acknowledged or cancelled, and a 2xx passes (RFC 3261 §16.7 steps 5
    /// and 10).
    public func giveUp(_ transaction: Transaction) {
        for slot in 0..<3 { wheel.cancel(transaction.timers[Int(TransactionRole.client.rawValue) * 3 + slot]) }
        transaction.attempt += 1
    }

    /// Forgets a transaction whose final response passed another element, and sends nothing.
    public func leave(_ transaction: Transaction) {
        for slot in 0..<9 { wheel.cancel(transaction.timers[slot]) }
        transaction.attempt += 1
        forget(transaction)
    }

    /// Handles a request that could not be delivered; a failure of an abandoned target is ignored.
    public func sendFailed(_ token: DeliveryToken, at now: Moment) {
        self.now = now
        guard let transaction = byBranch[token.branch], transaction.attempt == token.attempt else { return }
        perform(transaction.client.receive(.transportFailed), .client, transaction, nil)
    }

    /// Takes a request that belongs to a known transaction: a retransmission or an ACK (RFC 3261 §17.2).
    ///
    /// - Returns: true when the owner must forward it, as it must the ACK of a 2xx.
    public func absorb(_ request: SIPMessage, in transaction: Transaction, at now: Moment) -> Bool {
        self.now = now
        let event: ServerTransactionEvent = request.method == .ack ? .ack : .request
        return perform(serverEffects(event, transaction), .server, transaction, nil)
    }

    /// Takes the caller's CANCEL for a pending INVITE; forwarded at once or after the first provisional response (RFC 3261
    /// §9.1).
    public func cancel(_ transaction: Transaction, with request: SIPMessage?, at now: Moment) {
        self.now = now
        // After a final response no CANCEL leaves that could carry its reasons.
        if transaction.isPending, transaction.receivedCancel == nil { transaction.receivedCancel = request }
        if transaction.isInvite { goOnIfItRings(transaction) }
        perform(transaction.client.receive(.cancel), .client, transaction, nil)
        weigh(transaction)
    }

    /// Sends a response upstream; its bytes are kept for retransmission (RFC 3261 §16.7 step 9).
    ///
    /// A 2xx after a failure is sent outside the server transaction: every 2xx must reach the caller (§16.7 step 5).
    public func respond(_ status: Int, _ bytes: [UInt8], in transaction: Transaction, at now: Moment) {
        self.now = now
        if (200..<300).contains(status), transaction.server?.hasRefusedOrEnded == true {
            return sendUpstream(bytes, transaction)
        }
        if status >= 200 { transaction.releaseRequest() }
        transaction.owesTrying = false
        perform(serverEffects(.respond(status), transaction), .server, transaction, nil, responding: bytes)
        if status >= 200 { transaction.releaseMessages(afterFinal: status) }
        weigh(transaction)
    }

    /// Takes a response of the target and delivers it to the owner.
    public func receive(
        _ response: SIPMessage, in transaction: Transaction, attempt: UInt8 = 0, from source: Flow? = nil,
        isForCancel: Bool, at now: Moment
    ) {
        self.now = now
        guard let status = response.status else { return }
        if attempt != transaction.attempt {
            if !isForCancel, let source { receiveLate(response, status, in: transaction, from: source) }
        } else if isForCancel {
            perform(transaction.client.receiveForCancel(.response(status)), .cancel, transaction, nil)
        } else {
            perform(transaction.client.receive(.response(status)), .client, transaction, response)
        }
    }

    /// Takes a response of an abandoned target, whose INVITE must not stay half open.
    ///
    /// A failure is acknowledged and ringing is cancelled (RFC 3261 §9.1, §17.1.1.3). A 2xx is forwarded, and the present
    /// target is cancelled (§16.7 steps 5 and 10).
    private func receiveLate(
        _ response: SIPMessage, _ status: Int, in transaction: Transaction, from source: Flow
    ) {
        guard transaction.isInvite, status > 100 else { return }
        if (200..<300).contains(status) {
            perform(transaction.client.receive(.cancel), .client, transaction, nil)
            user?.deliver(response, to: transaction, at: now)
        } else if let invite = transaction.forwardedRequest {
            let bytes =
                status < 200
                ? LocalMessages.cancel(of: invite, reasonsFrom: nil, via: response)
                : LocalMessages.acknowledgement(of: invite, for: response, via: response)
            outgoing.append(
                OutgoingMessage(
                    bytes: bytes, destination: source.returnAddress, socket: source.socket,
                    connection: source.connection))
        }
    }

    /// Most timers in one go, so that messages do not wait for all of them.
    private static var timersAtOnce: Int { 128 }

    /// Runs due timers, at most `timersAtOnce`; `nextDeadline` stays at or before `now` while more are due.
    ///
    /// At 2,000 calls/s some 500 transactions end at the same time, which takes half a millisecond.
    public func fireTimers(at now: Moment) {
        self.now = now
        for _ in 0..<Self.timersAtOnce {
            guard let due = wheel.popDue(by: now.milliseconds) else { return }
            guard let transaction = byBranch[Branch(token: due.id)],
                let role = TransactionRole(rawValue: due.kind >> 6),
                let timer = TransactionTimer(rawValue: due.kind & 63)
            else { continue }
            switch role {
            case .server: perform(serverEffects(.fired(timer), transaction), role, transaction, nil)
            case .client:
                guard timer != .b || !goOnIfItRings(transaction) else { continue }
                perform(transaction.client.receive(.fired(timer)), role, transaction, nil)
            case .cancel: perform(transaction.client.receiveForCancel(.fired(timer)), role, transaction, nil)
            }
        }
    }

    /// Waits for the final response, as after a provisional one, if a phone rings; false if none does.
    @discardableResult
    private func goOnIfItRings(_ transaction: Transaction) -> Bool {
        guard user?.rings(transaction) == true else { return false }
        transaction.hasProgress = true
        perform(transaction.client.receive(.response(100)), .client, transaction, nil)
        return true
    }

    /// Updates the counted bytes of a transaction in the table.
    private func weigh(_ transaction: Transaction) {
        guard let counted = transaction.countedBytes else { return }
        let held = transaction.heldBytes
        heldBytes += held - counted
        transaction.countedBytes = held
    }

    /// Removes a transaction from the table.
    func forget(_ transaction: Transaction) {
        byBranch[transaction.branch] = nil
        heldBytes -= transaction.countedBytes ?? 0
        transaction.countedBytes = nil
    }

    private func serverEffects(_ event: ServerTransactionEvent, _ transaction: Transaction) -> TransactionEffects {
        transaction.server?.receive(event) ?? .none
    }
}
