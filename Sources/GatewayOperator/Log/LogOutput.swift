// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Foundation
import Host
import Logging

/// The gateway's log on standard error, whose level and form change while it runs; any thread.
package final class LogOutput: Sendable {
    /// The last lines, kept in memory.
    package let recent = RecentLog()
    /// A level set at run time.
    let ordered = OrderedLogLevel()
    private let configured: LiveLogSettings

    package init(_ settings: LogSettings) { configured = LiveLogSettings(settings) }

    /// Sets up the log of the whole process; once, before the first line.
    package static func start(_ settings: LogSettings) -> LogOutput {
        let output = LogOutput(settings)
        LoggingSystem.bootstrap { label in output.handler(label) }
        return output
    }

    /// The settings in force.
    package var settings: LogSettings { configured.value }
    /// The least level of a line that is written: the ordered one, else that of the configuration.
    var level: Logger.Level { ordered.level ?? configuredLevel }
    /// The level of the configuration.
    var configuredLevel: Logger.Level { configured.level }

    /// Applies other settings from the next line on, to every logger without a level of its own.
    package func use(_ settings: LogSettings) { configured.use(settings) }

    /// The handler of a label.
    func handler(_ label: String) -> any LogHandler {
        RecentLogHandler(SwitchedLogHandler(label: label, output: self), label: label, recent: recent) {
            Date().formatted(.iso8601)
        }
    }
}

/// Writes each line in the form and from the level that are in force.
private struct SwitchedLogHandler: LineLogHandler {
    var context: LogLineContext
    private let output: LogOutput
    private let text: TextLogHandler
    private let json: JSONLogHandler

    init(label: String, output: LogOutput) {
        context = LogLineContext(label: label, level: output.level)
        self.output = output
        text = TextLogHandler(label: label, level: .trace)
        json = JSONLogHandler(label: label, level: .trace, prefixes: JournalStream.isStandardError)
    }

    func write(line: LogLine) {
        switch output.settings.format {
        case .text: text.write(line: line)
        case .json: json.write(line: line)
        }
    }
}
