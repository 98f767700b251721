// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Foundation
package import GatewayAdmin
import LogText
import Logging

/// Where the gateway's log goes: standard error, as text or as JSON.
package enum LogOutput {
    /// Sets the log up for the whole program; once, before the first line.
    ///
    /// - Returns: the last lines in memory.
    package static func start(_ settings: LogSettings) -> RecentLog {
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
