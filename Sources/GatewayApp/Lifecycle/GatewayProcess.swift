// SPDX-License-Identifier: Apache-2.0

import CLinux
import CSQLite
import ConfigurationFiles
import CoreMetrics
import Foundation
import GatewayConfiguration
import GatewayOperator
import Host
import Logging
import UnixSignals

/// `herald run`: one gateway in one process.
package enum GatewayProcess {
    /// Reads the configuration, starts the log and the gateway, and returns after SIGTERM or SIGINT.
    ///
    /// - Throws: `CommandFailure` with the reason for standard error.
    package static func run(configurationFile path: String) async throws {
        herald_return_large_blocks()
        herald_sqlite_without_statistics()
        // Ledger, records and logs name callers. Only this user and its group may read them, whatever the folder's mode.
        umask(0o027)
        MetricsSystem.bootstrap(LibraryMetrics.shared)
        // SIGHUP is trapped before the slow steps; until then it would end the process.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let configuration = try CommandFailure.reported { try HeraldConfiguration.load(path: path) }
        let log = LogOutput.start(configuration.log)
        let start = GatewayStart(
            configuration, path: path, hangups: hangups, log: log, logger: Logger(label: "herald"))
        try await CommandFailure.reported { try await RunningGateway(start).run() }
    }
}
