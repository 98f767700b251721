// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SIPCore

// The choice of a target, and the next one when a target fails (RFC 3261 §16.6 step 7, §16.7 step 4, §16.9).

extension ProxyCore {
    /// The targets of a group that are up, in the order to try for this call.
    ///
    /// An emergency call tries targets that are down as well, before it fails.
    func order(
        _ group: TargetGroup, for call: CallIdentifier, at now: Moment, isEmergency: Bool = false
    ) -> TargetOrder {
        group.order(for: call.low, at: now.milliseconds, orDown: isEmergency)
    }

    /// The hop to a target, by the wanted socket if that has the target's transport and address family.
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

    /// Makes a target the present one of a transaction, and counts a call that is sent there.
    func use(_ target: Target, for transaction: GatewayTransaction) {
        transaction.targetState = target.targetState
        guard let call = transaction.call else { return }
        shared.calls.send(call, to: target.targetState)
    }

    /// Time the present target has to respond: nil, timer F or B alone, where no other could be tried.
    ///
    /// - Parameter isCall: a new call may leave its last target as well, for which the operator sets the time.
    func patience(_ targets: TargetOrder, isCall: Bool = false) -> TimerDelay? {
        guard targets.isEmpty else { return settings.targetPatience }
        return isCall ? settings.lastPatience : nil
    }

    /// Records a response in the state of its target.
    ///
    /// Retry-After holds back all requests (RFC 3261 §21.5.4). So the last target that is up is not held back.
    func record(_ response: SIPMessage, _ status: Int, of transaction: GatewayTransaction, at now: Moment) {
        guard let targetState = transaction.targetState else { return }
        if status != 503 {
            targetState.record(.responded, at: now.milliseconds)
        } else {
            let seconds = transaction.targets.isEmpty ? nil : RetryAfter.seconds(of: response)
            targetState.record(.refused(retryAfter: seconds), at: now.milliseconds)
        }
    }

    /// Records that a target left a call without any response.
    ///
    /// Other requests do not count: many targets ignore an OPTIONS or MESSAGE.
    func recordSilence(of transaction: GatewayTransaction, at now: Moment) {
        guard transaction.isInvite, !transaction.hasProgress, !transaction.isCancelled else { return }
        // Without another target the full timeout must pass, since all calls are rejected once this one is down.
        let isAlone = transaction.targets.isEmpty && transaction.attempt == 0
        let longest = settings.timers.transactionTimeout
        let patience = transaction.targets.isEmpty ? settings.lastPatience ?? longest : settings.targetPatience
        let waited = isAlone ? longest : settings.targetPatience
        transaction.targetState?.recordSilence(
            of: UInt64(waited.milliseconds), patience: UInt64(patience.milliseconds), at: now.milliseconds)
    }

    /// Sends the request to the next target that is up; false if there is none, or none may be tried.
    ///
    /// Never after a provisional response above 100: a phone may be ringing (RFC 3261 §16.7 step 4).
    ///
    /// - Parameter isUndelivered: whether the request did not reach the present target.
    func tryNext(_ transaction: GatewayTransaction, isUndelivered: Bool = false, at now: Moment) -> Bool {
        guard !transaction.hasProgress, !transaction.isCancelled, transaction.pendingRequest != nil,
            isUndelivered || !transaction.hasFallback
        else { return false }
        let dialog = transaction.dialog
        let wanted =
            dialog.isInbound && !transaction.hasFallback
            ? settings.topology.trunk(mark: dialog.trunk, at: now)?.pbxSocket : nil
        while let target = transaction.targets.next() {
            guard transaction.targets.holdsDown || target.targetState.isUp(at: now.milliseconds) else { continue }
            counters.add(.failovers)
            use(target, for: transaction)
            let patience =
                transaction.hasFallback ? nil : patience(transaction.targets, isCall: transaction.isCall)
            return transactions.retry(
                transaction, at: hop(to: target, by: wanted), sockets: settings.topology.sockets,
                secret: settings.secret, patience: patience, at: now)
        }
        return false
    }

    /// Rejects a request for which no target is up with 503 and Retry-After.
    func refuseWithoutTarget(_ transaction: GatewayTransaction, at now: Moment) {
        guard let request = transaction.pendingRequest else { return }
        counters.add(.targetsUnavailable)
        recordNoTarget(for: request, of: transaction, at: now)
        let bytes = LocalMessages.response(
            to: request, status: 503, phrase: "Service Unavailable",
            toTag: OwnResponse.tag(for: request, secret: settings.secret), field: .retryAfter(seconds: 10),
            source: transaction.flow.source)
        transactions.respond(503, bytes, in: transaction, at: now)
    }
}
