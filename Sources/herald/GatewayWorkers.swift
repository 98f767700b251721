// SPDX-License-Identifier: Apache-2.0

import CallPath
import Logging
import SIPCore
import SIPTransport
import ServiceLifecycle
import UnixSignals

/// The threads that carry calls, and the transactions they share.
struct GatewayWorkers: Sendable {
    let shards: GatewayShards
    private let workers: [TransportWorker]

    init(_ shared: GatewayShared, threads: [TransportWorker]) {
        // A few shards a worker, so that two seldom want the same one at once.
        shards = GatewayShards(shared: shared, count: threads.count == 1 ? 1 : threads.count * 8, now: .now())
        workers = threads
    }

    func start() {
        let shards = shards
        let count = workers.count
        for (number, worker) in workers.enumerated() {
            worker.start { GatewayWorker(shards: shards, worker: number, of: count) }
        }
    }

    /// Puts all threads before all ordinary ones of the machine, or back among them.
    func goFirst(_ isSo: Bool) {
        for worker in workers { worker.goFirst(isSo) }
    }

    /// What the system allows the threads, which is the same for all, once one runs.
    func priority() async -> CallThreadPriority.Granted? {
        guard let first = workers.first else { return nil }
        while first.priority == nil { try? await Task.sleep(for: .milliseconds(5)) }
        return first.priority
    }

    /// The smallest receive buffer of their UDP sockets, in bytes; nil without one.
    var receiveBuffer: Int? { workers.compactMap(\.receiveBuffer).min() }

    /// Ends the threads after their present round.
    func stop() async {
        for worker in workers { worker.stop() }
        while workers.contains(where: { !$0.hasFinished }) { try? await Task.sleep(for: .milliseconds(5)) }
    }
}

/// Starts the workers when the gate opens, and when the gateway is to stop lets calls in progress finish before it ends them.
struct WorkerService: Service {
    let workers: GatewayWorkers
    let streams: StreamTransport?
    let drain: Duration
    let gate: StartGate
    let logger: Logger
    /// Called when calls can come.
    let onReady: @Sendable () -> Void

    func run() async throws {
        guard await gate.isOpen() else {
            await streams?.stop()
            return
        }
        onReady()
        workers.start()
        await remarkOnSystem()
        try? await gracefulShutdown()
        await drained()
        await workers.stop()
        await streams?.stop()
    }

    /// Says what the system does not grant the workers, and what that costs.
    private func remarkOnSystem() async {
        let wanted = CallThreadPriority.wantedNiceness
        if let priority = await workers.priority(), priority.niceness > wanted || !priority.isRealTime {
            logger.info(
                "calls wait for other programs of this machine when it is busy; allow the service LimitRTPRIO=1 and LimitNICE=\(wanted) (systemd) or CAP_SYS_NICE",
                metadata: ["real-time": "\(priority.isRealTime)", "niceness": "\(priority.niceness)"])
        }
        if let bytes = workers.receiveBuffer, bytes < UDPSocket.wantedBuffer {
            logger.notice(
                "bursts of calls may be refused or lost, the receive buffer is small; allow net.core.rmem_max=\(UDPSocket.wantedBuffer) in /etc/sysctl.d",
                metadata: ["buffer": "\(bytes)", "wanted": "\(UDPSocket.wantedBuffer)"])
        }
    }

    /// Waits for the last call, the end of patience or a second signal, whichever comes first.
    private func drained() async {
        let shared = workers.shards.shared
        shared.drain()
        guard shared.calls.count > 0, drain > .zero else { return }
        logger.notice(
            "draining: new calls but emergencies are refused, calls in progress may finish; a second signal ends at once",
            metadata: ["calls": "\(shared.calls.count)", "longest": "\(drain)"])
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                repeat {
                    while shared.calls.count > 0, !Task.isCancelled {
                        try? await Task.sleep(for: .milliseconds(100))
                    }
                    // The BYE of the last call has its answer still to come, by a resend perhaps (RFC 3261 §17.1.2.1).
                    try? await Task.sleep(for: .seconds(1))
                } while shared.calls.count > 0 && !Task.isCancelled
            }
            group.addTask { try? await Task.sleep(for: drain) }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) { break }
            }
            await group.next()
            group.cancelAll()
        }
        if shared.calls.count > 0 {
            logger.notice(
                "calls are still in progress; they go on with the next start",
                metadata: ["calls": "\(shared.calls.count)"])
        }
    }
}
