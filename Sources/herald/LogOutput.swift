// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayAdmin
import Logging

/// Where the gateway's log goes: standard error, as text or as JSON.
enum LogOutput {
    /// Sets the log up for the whole program; once, before the first line.
    static func start(_ settings: LogSettings) {
        let level = Logger.Level(rawValue: settings.level.rawValue) ?? .info
        LoggingSystem.bootstrap { label in
            guard settings.format == .text else { return JSONLogHandler(label: label, level: level) }
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
    }
}
