// SPDX-License-Identifier: Apache-2.0

/// The server side of a proxied request: the transaction it came in by (RFC 3261 §17.2).
enum ServerSide: Sendable {
    case invite(InviteServerTransaction)
    case nonInvite(NonInviteServerTransaction)

    init(isInvite: Bool, timers: TransactionTimers, isReliable: Bool) {
        self =
            isInvite
            ? .invite(InviteServerTransaction(timers: timers, isReliable: isReliable))
            : .nonInvite(NonInviteServerTransaction(timers: timers, isReliable: isReliable))
    }

    var isTerminated: Bool {
        switch self {
        case .invite(let machine): machine.isTerminated
        case .nonInvite(let machine): machine.isTerminated
        }
    }

    /// True for an INVITE whose transaction accepts no 2xx any more.
    var hasRefusedOrEnded: Bool {
        if case .invite(let machine) = self { machine.hasRefusedOrEnded } else { false }
    }

    mutating func start() -> TransactionEffects {
        switch self {
        case .invite(var machine):
            defer { self = .invite(machine) }
            return machine.start()
        case .nonInvite(var machine):
            defer { self = .nonInvite(machine) }
            return machine.start()
        }
    }

    mutating func receive(_ event: ServerTransactionEvent) -> TransactionEffects {
        switch self {
        case .invite(var machine):
            defer { self = .invite(machine) }
            return machine.receive(event)
        case .nonInvite(var machine):
            defer { self = .nonInvite(machine) }
            return machine.receive(event)
        }
    }
}

/// The client side of a proxied request: the transaction it left by (RFC 3261 §17.1).
enum ClientSide: Sendable {
    /// The request was not forwarded.
    case none
    /// An INVITE, and its CANCEL, which is a transaction of its own (RFC 3261 §9.1).
    case invite(InviteClientTransaction, cancel: NonInviteClientTransaction?)
    case nonInvite(NonInviteClientTransaction)

    init(isInvite: Bool, timers: TransactionTimers, isReliable: Bool, patience: TimerDelay?) {
        self =
            isInvite
            ? .invite(
                InviteClientTransaction(timers: timers, isReliable: isReliable, patience: patience), cancel: nil)
            : .nonInvite(NonInviteClientTransaction(timers: timers, isReliable: isReliable, patience: patience))
    }

    /// True when neither the request nor its CANCEL waits for anything.
    var isOver: Bool {
        switch self {
        case .none: true
        case .invite(let machine, let cancel): machine.isTerminated && cancel?.isTerminated ?? true
        case .nonInvite(let machine): machine.isTerminated
        }
    }

    /// True before the final response, and while its retransmissions are expected.
    var awaitsResponses: Bool {
        switch self {
        case .none: false
        case .invite(let machine, _): !machine.isTerminated
        case .nonInvite(let machine): !machine.isTerminated
        }
    }

    /// True for an INVITE without a final response.
    var isPendingInvite: Bool {
        guard case .invite(let machine, _) = self else { return false }
        return machine.state == .calling || machine.state == .proceeding
    }

    /// True for an INVITE that is cancelled, whether or not its CANCEL has left.
    var isCancelled: Bool {
        if case .invite(let machine, _) = self { machine.isCancelled } else { false }
    }

    mutating func start() -> TransactionEffects {
        switch self {
        case .none: return .none
        case .invite(var machine, let cancel):
            defer { self = .invite(machine, cancel: cancel) }
            return machine.start()
        case .nonInvite(var machine):
            defer { self = .nonInvite(machine) }
            return machine.start()
        }
    }

    mutating func receive(_ event: ClientTransactionEvent) -> TransactionEffects {
        switch self {
        case .none: return .none
        case .invite(var machine, let cancel):
            defer { self = .invite(machine, cancel: cancel) }
            return machine.receive(event)
        case .nonInvite(var machine):
            defer { self = .nonInvite(machine) }
            return machine.receive(event)
        }
    }

    /// Starts the transaction of the INVITE's CANCEL; nothing else can be cancelled.
    mutating func startCancel(timers: TransactionTimers, isReliable: Bool) -> TransactionEffects {
        guard case .invite(let machine, _) = self else { return .none }
        var cancel = NonInviteClientTransaction(timers: timers, isReliable: isReliable)
        defer { self = .invite(machine, cancel: cancel) }
        return cancel.start()
    }

    /// Takes an event of the CANCEL's transaction.
    mutating func receiveForCancel(_ event: ClientTransactionEvent) -> TransactionEffects {
        guard case .invite(let machine, var cancel?) = self else { return .none }
        defer { self = .invite(machine, cancel: cancel) }
        return cancel.receive(event)
    }
}
