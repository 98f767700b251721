// SPDX-License-Identifier: Apache-2.0

import SIPCore

// Which target a request goes to, and what happens when one fails (RFC 3261 §16.6 step 7, §16.7 step 4, §16.9).

extension SIPGateway {
    /// The targets of a group that take calls now, in the order they are to be tried for this call.
    func order(_ group: TargetGroup, for call: CallIdentifier, at now: Moment) -> TargetOrder {
        group.order(for: call.low, at: now.milliseconds)
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

    /// How long the silence of the present target is borne: shorter while there is another one.
    func patience(_ targets: TargetOrder) -> TimerDelay? { targets.isEmpty ? nil : settings.targetPatience }

    /// Notes what a target's answer, or its silence, says about its health.
    func note(_ event: TargetHealth.Event, of transaction: ProxyTransaction, at now: Moment) {
        transaction.standing?.note(event, at: now.milliseconds)
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
            guard target.standing.isUp(at: now.milliseconds) else { continue }
            counters.add(.failovers)
            transaction.standing = target.standing
            return transactions.retry(
                transaction, at: hop(to: target, by: wanted), sockets: settings.topology.sockets,
                patience: patience(transaction.targets), at: now)
        }
        return false
    }

    /// Answers a request for which no target is up, at once and with the time after which another try makes sense.
    func refuseWithoutTarget(_ transaction: ProxyTransaction, at now: Moment) {
        guard let request = transaction.pendingRequest else { return }
        counters.add(.targetsUnavailable)
        let bytes = LocalMessages.response(
            to: request, status: 503, phrase: "Service Unavailable",
            toTag: OwnAnswer.tag(for: request, secret: settings.secret), header: "Retry-After: 10",
            source: transaction.flow.source)
        transactions.respond(503, bytes, in: transaction, at: now)
    }
}
