// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SIPTransport
import Synchronization

/// Sends what it receives to as many places as a call may try, all of which the system refuses, then back to its sender.
final class FailingElement: SIPElement {
    let nextDeadline: UInt64? = nil
    var filling = 0.0
    var followsPause = false
    private var outgoing: [OutgoingMessage] = []
    private var source = UDPSocketTests.loopback
    private var datagram: [UInt8] = []
    private let observed: Observed

    init(_ observed: Observed) { self.observed = observed }

    func receive(_ datagram: Span<UInt8>, by flow: Flow, at now: Moment) {
        (self.datagram, source) = ([UInt8](copying: datagram), flow.source)
        attempt(0)
    }

    private func attempt(_ number: UInt8) {
        // A broadcast without permission: EACCES.
        let refused = PeerAddress(ipv4: 0xFFFF_FFFF, port: 5060)
        outgoing.append(
            OutgoingMessage(
                bytes: datagram, destination: refused, socket: 0,
                token: DeliveryToken(branch: Branch(token: 1), attempt: number)))
    }

    func sendFailed(_ token: DeliveryToken, at now: Moment) {
        if Int(token.attempt) + 1 < TargetGroup.mostTried { return attempt(token.attempt + 1) }
        outgoing.append(OutgoingMessage(bytes: datagram, destination: source, socket: 0))
    }

    func exchangeOutgoing(for list: inout [OutgoingMessage]) -> Bool {
        swap(&list, &outgoing)
        return !list.isEmpty
    }

    func record(_ trouble: TransportTrouble) { observed.troubles.withLock { $0.append(trouble) } }

    func fireTimers(at now: Moment) {}
}
