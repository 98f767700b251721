// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayAdmin
import LogText
import Logging

/// The destination of the gateway's log: standard error, as text or as JSON.
enum LogOutput {
    /// Sets up the log of the whole process; once, before the first line.
    ///
    /// - Returns: the last lines, kept in memory.
    static func start(_ settings: LogSettings) -> RecentLog {
        let level = Logger.Level(rawValue: settings.level.rawValue) ?? .info
        let recent = RecentLog()
        LoggingSystem.bootstrap { label in
            RecentLogHandler(handler(label, level, settings.format), label: label, recent: recent) {
                Date().formatted(.iso8601)
            }
        }
        return recent
    }

    private static func handler(_ label: String, _ level: Logger.Level, _ format: LogSettings.Format)
        -> any LogHandler
    {
        switch format {
        case .text: TextLogHandler(label: label, level: level)
        case .json: JSONLogHandler(label: label, level: level, prefixes: JournalStream.isStandardError)
        }
    }
}
