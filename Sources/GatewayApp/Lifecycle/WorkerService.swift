// SPDX-License-Identifier: Apache-2.0

import Host
import Logging
import SIPTransport
import ServiceLifecycle

/// Starts the call threads when the start gate opens; at shutdown drains the calls, then ends the threads.
struct WorkerService: Service {
    let workers: GatewayWorkers
    /// Nil where no address uses TCP or TLS.
    let streams: StreamTransport?
    let drain: CallDrain
    let gate: StartGate
    let report: SystemdReport
    let logger: Logger
    /// Called before the first call can arrive.
    let onReady: @Sendable () -> Void

    func run() async throws {
        guard await gate.isOpen() else {
            await streams?.stop()
            return
        }
        onReady()
        workers.start()
        await workers.haveStarted()
        report.serves()
        await logLimits()
        try? await gracefulShutdown()
        report.stops()
        await drain.run()
        report.ends()
        await workers.stop()
        await streams?.stop()
    }

    /// Logs privileges and buffers that the system does not grant, their effect and the remedy.
    private func logLimits() async {
        let wanted = CallThreadPriority.wantedNiceness
        if let priority = await workers.priority(), priority.niceness > wanted || !priority.isRealTime {
            logger.info(
                """
                calls wait for other programs of this machine when it is busy; allow the service LimitRTPRIO=1 and \
                LimitNICE=\(wanted) (systemd) or CAP_SYS_NICE
                """,
                metadata: ["real-time": "\(priority.isRealTime)", "niceness": "\(priority.niceness)"])
        }
        if let bytes = workers.receiveBuffer, bytes < UDPSocket.wantedBuffer {
            logger.notice(
                """
                bursts of calls may be refused or lost, the receive buffer is small; allow \
                net.core.rmem_max=\(UDPSocket.wantedBuffer) in /etc/sysctl.d
                """,
                metadata: ["buffer": "\(bytes)", "wanted": "\(UDPSocket.wantedBuffer)"])
        }
    }
}
