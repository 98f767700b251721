// SPDX-License-Identifier: Apache-2.0

import CallPath
import Host
import SIPCore
import SIPTransport

/// The threads that carry calls, and the transactions they share.
struct GatewayWorkers: Sendable {
    let shards: GatewayShards
    private let workers: [TransportWorker]

    /// Divides the transactions among the threads; starts none.
    init(_ shared: GatewayShared, threads: [TransportWorker]) {
        // Eight shards a thread keep two threads from waiting for the same one.
        shards = GatewayShards(shared: shared, count: threads.count == 1 ? 1 : threads.count * 8, now: .now())
        workers = threads
    }

    /// Starts the threads; calls are received from now on.
    func start() {
        let shards = shards
        let count = workers.count
        for (number, worker) in workers.enumerated() {
            worker.start { GatewayElement(shards: shards, worker: number, of: count) }
        }
    }

    /// Switches all threads between real-time and normal scheduling, if permitted.
    func setRealTime(_ enabled: Bool) {
        for worker in workers { worker.setRealTime(enabled) }
    }

    /// The scheduling that the system grants the threads; waits until one runs.
    ///
    /// Nil without threads.
    func priority() async -> CallThreadPriority.Granted? {
        guard let first = workers.first else { return nil }
        while first.priority == nil { try? await Task.sleep(for: .milliseconds(5)) }
        return first.priority
    }

    /// The smallest receive buffer of their UDP sockets, in bytes; nil without one.
    var receiveBuffer: Int? { workers.compactMap(\.receiveBuffer).min() }

    /// The delay that the threads add to calls, in seconds.
    var delays: Distribution {
        workers.reduce(DurationHistogram(.delay).distribution) { $0 + $1.delays.distribution }
    }

    /// Completed rounds of each thread; nil for one that has ended.
    var rounds: [UInt64?] { workers.map(\.rounds) }

    /// Waits until each thread has begun its first round.
    func haveStarted() async {
        while workers.contains(where: { $0.rounds == 0 }) { try? await Task.sleep(for: .milliseconds(5)) }
    }

    /// Ends the threads after their present round.
    func stop() async {
        for worker in workers { worker.stop() }
        while workers.contains(where: { !$0.hasFinished }) { try? await Task.sleep(for: .milliseconds(5)) }
    }
}
