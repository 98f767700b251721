// SPDX-License-Identifier: Apache-2.0

import DirectoryServer
import Host
import Logging
import ServiceLifecycle

/// Reports the directory to systemd: ready once it listens, the stop, and the watchdog.
///
/// The watchdog watches the loops that serve connections. Databases have threads of their own, so a slow disk stops none.
struct SystemdReport: Service {
    let server: DirectoryServer
    let address: String
    var supervisor = Supervisor.current
    let logger: Logger

    func run() async throws {
        guard await server.isListening() else { return }
        let progress = EventLoopProgress()
        let watchdog = Watchdog(supervisor, progress: { progress.values }) { [logger] loop in
            logger.critical(
                "a thread of the server makes no progress; systemd restarts it if that lasts, see WatchdogSec",
                metadata: ["thread": "\(loop)"])
        }
        supervisor.report(.ready, .status("listening on \(address)"))
        watchdog.start()
        try? await gracefulShutdown()
        supervisor.report(.stopping)
        watchdog.stop()
    }
}
