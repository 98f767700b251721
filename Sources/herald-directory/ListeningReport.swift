// SPDX-License-Identifier: Apache-2.0

import DirectoryServer
import Host
import ServiceLifecycle

/// Reports to systemd that the server listens, and that it stops.
struct ListeningReport: Service {
    let server: DirectoryServer
    let report: SystemdReport

    func run() async throws {
        guard await server.isListening() else { return }
        report.serves()
        try? await gracefulShutdown()
        report.stops()
        report.ends()
    }
}
