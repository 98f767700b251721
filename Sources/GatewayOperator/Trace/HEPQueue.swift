// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// HEP packets that leave together.
struct HEPBatch: Sendable {
    /// The packets, one behind the other.
    var bytes: [UInt8] = []
    /// The ends of the packets.
    var ends: [Int] = []

    var isEmpty: Bool { ends.isEmpty }
}

/// Packets between the reader of traces and the connection to a collector.
///
/// Bounded in bytes: a batch that finds the queue full is dropped, and its messages are counted. Any thread.
final class HEPQueue: Sendable {
    /// Bytes that wait for the collector: a third of a second of 20,000 messages a second.
    static let longest = 8 * 1024 * 1024

    /// Writes the packets.
    let packet: HEPPacket
    let numbers: TraceOrder.Numbers
    /// The batches in order; one consumer.
    let batches: AsyncStream<HEPBatch>
    private let input: AsyncStream<HEPBatch>.Continuation
    private let waitingBytes = Atomic<Int>(0)
    private let waitingMessages = Atomic<Int>(0)
    private let onDrop: @Sendable (Int) -> Void

    /// - Parameter onDrop: receives the number of messages of a dropped batch, on the reader's thread.
    init(_ packet: HEPPacket, _ numbers: TraceOrder.Numbers, onDrop: @escaping @Sendable (Int) -> Void) {
        self.packet = packet
        self.numbers = numbers
        self.onDrop = onDrop
        (batches, input) = AsyncStream.makeStream(of: HEPBatch.self, bufferingPolicy: .unbounded)
    }

    /// Passes a batch to the connection, or drops it.
    func offer(_ batch: HEPBatch) {
        guard waitingBytes.load(ordering: .relaxed) + batch.bytes.count <= Self.longest else {
            return onDrop(batch.ends.count)
        }
        waitingBytes.add(batch.bytes.count, ordering: .relaxed)
        waitingMessages.add(batch.ends.count, ordering: .relaxed)
        input.yield(batch)
    }

    /// Messages that wait, with those that are being sent.
    var waiting: Int { waitingMessages.load(ordering: .relaxed) }

    /// Frees the place of a batch that has left.
    func remove(_ batch: HEPBatch) {
        waitingBytes.subtract(batch.bytes.count, ordering: .relaxed)
        waitingMessages.subtract(batch.ends.count, ordering: .relaxed)
    }

    /// Calls a closure when the consumer has ended, or `finish` was called.
    func onEnd(_ call: @escaping @Sendable () -> Void) { input.onTermination = { _ in call() } }

    /// Ends the export after the batches that wait.
    func finish() { input.finish() }
}
