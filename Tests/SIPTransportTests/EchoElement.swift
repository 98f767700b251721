// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SIPTransport
import Synchronization
import TestFixtures

/// What the test may read of elements that live on their workers' threads.
final class Observed: Sendable {
    let received = Mutex<[[UInt8]]>([])
    /// Those of them that may have waited while the thread did not run.
    let late = Mutex<[[UInt8]]>([])
    let timers = Atomic<Int>(0)
    /// Messages that came while others waited to be sent.
    let unsent = Atomic<Int>(0)
    let troubles = Mutex<[TransportTrouble]>([])
    /// Datagrams that came back as undeliverable.
    let returned = Mutex<[[UInt8]]>([])

    /// Waits until a condition on what was observed holds; false if it does not.
    func wait(until condition: @Sendable (Observed) -> Bool) async throws -> Bool {
        try await waits { condition(self) }
    }
}

extension [UInt8] {
    /// The bytes of a message, to be kept.
    init(copying message: Span<UInt8>) { self = message.withUnsafeBufferPointer { Array($0) } }
}

/// Sends the responses of a test to every datagram; unless told otherwise the datagram itself.
final class EchoElement: SIPElement {
    var outgoing: [OutgoingMessage] = []
    let nextDeadline: UInt64? = nil
    var filling = 0.0
    var followsPause = false
    private let observed: Observed
    private let responses: @Sendable (_ datagram: [UInt8]) -> [[UInt8]]

    init(_ observed: Observed, responses: @escaping @Sendable (_ datagram: [UInt8]) -> [[UInt8]] = { [$0] }) {
        self.observed = observed
        self.responses = responses
    }

    func receive(_ datagram: Span<UInt8>, by flow: Flow, at now: Moment) {
        let bytes = [UInt8](copying: datagram)
        observed.received.withLock { $0.append(bytes) }
        if followsPause { observed.late.withLock { $0.append(bytes) } }
        if !outgoing.isEmpty { observed.unsent.add(1, ordering: .relaxed) }
        outgoing += responses(bytes).map {
            OutgoingMessage(bytes: $0, destination: flow.source, socket: flow.socket)
        }
    }

    func exchangeOutgoing(for list: inout [OutgoingMessage]) -> Bool {
        swap(&list, &outgoing)
        return !list.isEmpty
    }

    func record(_ trouble: TransportTrouble) { observed.troubles.withLock { $0.append(trouble) } }

    func sendFailed(_ token: DeliveryToken, at now: Moment) {}

    func fireTimers(at now: Moment) {}
}

/// Sends what it was given when its first timer fires, and keeps what comes back; its timer fires every 5 ms.
final class CallerElement: SIPElement {
    var outgoing: [OutgoingMessage] = []
    var nextDeadline: UInt64? = 0
    private var waiting: [OutgoingMessage]
    var filling = 0.0
    var followsPause = false
    private let observed: Observed

    init(sending waiting: [OutgoingMessage], _ observed: Observed) {
        self.waiting = waiting
        self.observed = observed
    }

    func receive(_ datagram: Span<UInt8>, by flow: Flow, at now: Moment) {
        let bytes = [UInt8](copying: datagram)
        observed.received.withLock { $0.append(bytes) }
    }

    func exchangeOutgoing(for list: inout [OutgoingMessage]) -> Bool {
        swap(&list, &outgoing)
        return !list.isEmpty
    }

    func record(_ trouble: TransportTrouble) { observed.troubles.withLock { $0.append(trouble) } }

    func sendFailed(_ token: DeliveryToken, at now: Moment) {}

    func cameBack(_ datagram: Span<UInt8>, at now: Moment) {
        let bytes = [UInt8](copying: datagram)
        observed.returned.withLock { $0.append(bytes) }
    }

    func fireTimers(at now: Moment) {
        outgoing += waiting
        waiting = []
        observed.timers.add(1, ordering: .relaxed)
        nextDeadline = now.milliseconds + 5
    }
}
