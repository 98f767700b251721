// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
package import GatewayAdmin
package import Logging
package import UnixSignals

/// The inputs of one start of the gateway.
package struct GatewayStart: Sendable {
    /// The checked configuration.
    package let configuration: HeraldConfiguration
    /// The file of the configuration; SIGHUP reads it again.
    package let path: String
    /// SIGHUPs, those during the start included.
    package let hangups: UnixSignalsSequence
    /// The last lines of the log, for debug uploads.
    package let recentLog: RecentLog
    /// The log of the start and of the services without a label of their own.
    package let logger: Logger

    /// Collects the inputs; opens nothing.
    package init(
        _ configuration: HeraldConfiguration, path: String, hangups: UnixSignalsSequence, recentLog: RecentLog,
        logger: Logger
    ) {
        self.configuration = configuration
        self.path = path
        self.hangups = hangups
        self.recentLog = recentLog
        self.logger = logger
    }
}
