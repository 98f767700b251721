// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Foundation
import Host
import Logging
import Synchronization

/// The gateway's log on standard error, whose level and form change while it runs.
///
/// Any thread.
package final class LogOutput: Sendable {
    /// The last lines, kept in memory.
    package let recent = RecentLog()
    /// A level set at run time.
    let ordered = OrderedLogLevel()
    private let state: Mutex<(settings: LogSettings, level: Logger.Level)>

    package init(_ settings: LogSettings) { state = Mutex((settings, Self.level(settings))) }

    /// Sets up the log of the whole process; once, before the first line.
    package static func start(_ settings: LogSettings) -> LogOutput {
        let output = LogOutput(settings)
        LoggingSystem.bootstrap { label in output.handler(label) }
        return output
    }

    /// The settings in force.
    package var settings: LogSettings { state.withLock { $0.settings } }
    /// The least level of a line that is written: the ordered one, else that of the configuration.
    var level: Logger.Level { ordered.level ?? configuredLevel }
    /// The level of the configuration.
    var configuredLevel: Logger.Level { state.withLock { $0.level } }

    /// Applies other settings from the next line on, to every logger without a level of its own.
    package func use(_ settings: LogSettings) { state.withLock { $0 = (settings, Self.level(settings)) } }

    private static func level(_ settings: LogSettings) -> Logger.Level {
        switch settings.level {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }

    /// The handler of a label.
    func handler(_ label: String) -> any LogHandler {
        RecentLogHandler(SwitchedLogHandler(label: label, output: self), label: label, recent: recent) {
            Date().formatted(.iso8601)
        }
    }
}

/// Writes each line in the form and from the level that are in force.
private struct SwitchedLogHandler: LogHandler {
    private let output: LogOutput
    private var text: TextLogHandler
    private var json: JSONLogHandler
    /// The level that a logger was given; nil follows the settings.
    private var ownLevel: Logger.Level?

    init(label: String, output: LogOutput) {
        self.output = output
        text = TextLogHandler(label: label, level: .trace)
        json = JSONLogHandler(label: label, level: .trace, prefixes: JournalStream.isStandardError)
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? output.level }
        set { ownLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { text.metadata }
        set {
            text.metadata = newValue
            json.metadata = newValue
        }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { text.metadataProvider }
        set {
            text.metadataProvider = newValue
            json.metadataProvider = newValue
        }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { text[metadataKey: key] }
        set {
            text[metadataKey: key] = newValue
            json[metadataKey: key] = newValue
        }
    }

    func log(event: LogEvent) {
        switch output.settings.format {
        case .text: text.log(event: event)
        case .json: json.log(event: event)
        }
    }
}
