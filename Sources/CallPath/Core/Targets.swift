// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SIPCore

// Which target a request goes to, and what happens when one fails (RFC 3261 §16.6 step 7, §16.7 step 4, §16.9).

extension SIPGateway {
    /// The targets of a group that take calls now, in the order they are to be tried for this call; an emergency call is
    /// given up by none of them before it was asked.
    func order(
        _ group: TargetGroup, for call: CallIdentifier, at now: Moment, isEmergency: Bool = false
    ) -> TargetOrder {
        group.order(for: call.low, at: now.milliseconds, orDown: isEmergency)
    }

    /// Where a target is reached, by the socket asked for when that speaks its transport and family.
    func hop(to target: Target, by wanted: Int? = nil) -> NextHop {
        let sockets = settings.topology.sockets
        var socket = target.socket
        if let wanted, sockets[wanted].transport == sockets[socket].transport,
            sockets[wanted].address.isIPv6 == target.address.isIPv6
        {
            socket = wanted
        }
        return NextHop(address: target.address, socket: socket, isReliable: sockets[socket].transport.isReliable)
    }

    /// How long the silence of the present target is borne: Timer F or B alone where no other one could be tried.
    ///
    /// - Parameter isCall: a new call is given up by its last target as well, for the caller's side may have another way.
    func patience(_ targets: TargetOrder, isCall: Bool = false) -> TimerDelay? {
        targets.isEmpty && !isCall ? nil : settings.targetPatience
    }

    /// Notes what a target's answer says about its health.
    ///
    /// Retry-After holds back everything for its time (RFC 3261 §21.5.4): from the last target that takes calls it is not
    /// honoured, for then nobody would.
    func note(_ response: SIPMessage, _ status: Int, of transaction: ProxyTransaction, at now: Moment) {
        guard let standing = transaction.standing else { return }
        if status != 503 {
            standing.note(.answered, at: now.milliseconds)
        } else {
            let seconds = transaction.targets.isEmpty ? nil : RetryAfter.seconds(of: response)
            standing.note(.refused(retryAfter: seconds), at: now.milliseconds)
        }
    }

    /// Notes that a call was left without any answer until the patience with it was at its end.
    ///
    /// Other requests say nothing: many a target ignores an OPTIONS or MESSAGE that is not for it.
    func noteSilence(of transaction: ProxyTransaction, at now: Moment) {
        guard transaction.isInvite, !transaction.hasProgress, !transaction.isCancelled else { return }
        // Where no other target would take the calls, more is asked before all of them are rejected.
        let isAlone = transaction.targets.isEmpty && transaction.attempt == 0
        let waited = isAlone ? settings.timers.transactionTimeout : settings.targetPatience
        transaction.standing?.noteSilence(of: UInt64(waited.milliseconds), at: now.milliseconds)
    }

    /// Sends the request to the next target that is up; false when there is none, or none may be tried any more.
    ///
    /// Never after a provisional answer other than 100: a phone may be ringing already (RFC 3261 §16.7 step 4 with one
    /// target at a time).
    func tryNext(_ transaction: ProxyTransaction, at now: Moment) -> Bool {
        guard !transaction.hasProgress, !transaction.isCancelled, transaction.pendingRequest != nil else {
            return false
        }
        let note = transaction.note
        let wanted = note.isInbound ? settings.topology.trunk(mark: note.trunk, at: now)?.pbxSocket : nil
        while let target = transaction.targets.next() {
            guard transaction.targets.holdsDown || target.standing.isUp(at: now.milliseconds) else { continue }
            counters.add(.failovers)
            transaction.standing = target.standing
            return transactions.retry(
                transaction, at: hop(to: target, by: wanted), sockets: settings.topology.sockets,
                secret: settings.secret, patience: patience(transaction.targets, isCall: transaction.isCall), at: now)
        }
        return false
    }

    /// Answers a request for which no target is up, at once and with the time after which another try makes sense.
    func refuseWithoutTarget(_ transaction: ProxyTransaction, at now: Moment) {
        guard let request = transaction.pendingRequest else { return }
        counters.add(.targetsUnavailable)
        noteNoTarget(for: request, of: transaction, at: now)
        let bytes = LocalMessages.response(
            to: request, status: 503, phrase: "Service Unavailable",
            toTag: OwnAnswer.tag(for: request, secret: settings.secret), field: .retryAfter(seconds: 10),
            source: transaction.flow.source)
        transactions.respond(503, bytes, in: transaction, at: now)
    }
}
