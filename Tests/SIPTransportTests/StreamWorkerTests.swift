// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Synchronization
import Testing

@testable import SIPTransport

/// Keeps what it receives with how full the queue was said to be.
private final class KeepingElement: SIPElement {
    let nextDeadline: UInt64? = nil
    var filling = 0.0
    var followsPause = false
    private let observed: Observed
    private let fillings: Fillings

    /// What the test may read.
    final class Fillings: Sendable {
        let kept = Mutex<[Double]>([])
    }

    init(_ observed: Observed, _ fillings: Fillings) { (self.observed, self.fillings) = (observed, fillings) }

    func receive(_ datagram: Span<UInt8>, by flow: Flow, at now: Moment) {
        fillings.kept.withLock { $0.append(filling) }
        let bytes = [UInt8](copying: datagram)
        observed.received.withLock { $0.append(bytes) }
    }

    func exchangeOutgoing(for list: inout [OutgoingMessage]) -> Bool { false }
    func record(_ trouble: TransportTrouble) {}
    func sendFailed(_ token: DeliveryToken, at now: Moment) {}
    func fireTimers(at now: Moment) {}
}

@Suite("Worker with streams", .timeLimit(.minutes(8)))
struct StreamWorkerTests {
    private let observed = Observed()
    private let fillings = KeepingElement.Fillings()
    private let flow = Flow(source: UDPSocketTests.loopback, socket: 0, connection: 1)

    /// What a worker without sockets makes of messages that were there before it.
    private func handle(_ messages: [[UInt8]], expecting count: Int) async throws -> [[UInt8]] {
        let worker = TransportWorker(sockets: [nil])
        defer { worker.stop() }
        #expect(worker.inbox.offer(messages.map { .message($0[...], flow) }))
        let (observed, fillings) = (observed, fillings)
        worker.start { KeepingElement(observed, fillings) }
        let isDone = try await observed.wait { $0.received.withLock { $0.count } >= count }
        #expect(isDone)
        return observed.received.withLock { $0 }
    }

    @Test func `its element gets the waiting amount, round by round`() async throws {
        let each = StreamBacklog.fullBytes / (2 * StreamBacklog.round)
        let messages = (0..<2 * StreamBacklog.round).map { [UInt8](repeating: UInt8($0), count: each) }
        #expect(try await handle(messages, expecting: messages.count) == messages)
        let told = fillings.kept.withLock { $0 }
        #expect(told[..<StreamBacklog.round].allSatisfy { $0 == 1 })
        #expect(told[StreamBacklog.round...].allSatisfy { $0 == 0.5 })
    }
}
