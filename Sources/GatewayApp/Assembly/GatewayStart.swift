// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayOperator
import Logging
import UnixSignals

/// The inputs of one start of the gateway.
struct GatewayStart: Sendable {
    /// The checked configuration.
    let configuration: HeraldConfiguration
    /// The file of the configuration; SIGHUP reads it again.
    let path: String
    /// SIGHUPs, those during the start included.
    let hangups: UnixSignalsSequence
    /// The log, with its last lines for debug uploads.
    let log: LogOutput
    /// The log of the start and of the services without a label of their own.
    let logger: Logger

    /// Collects the inputs; opens nothing.
    init(
        _ configuration: HeraldConfiguration, path: String, hangups: UnixSignalsSequence, log: LogOutput,
        logger: Logger
    ) {
        self.configuration = configuration
        self.path = path
        self.hangups = hangups
        self.log = log
        self.logger = logger
    }
}
