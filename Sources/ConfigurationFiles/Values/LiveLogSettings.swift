// SPDX-License-Identifier: Apache-2.0

package import Logging
import Synchronization

/// The log settings in force, which a reload replaces; any thread.
package final class LiveLogSettings: Sendable {
    private let settings: Mutex<LogSettings>

    package init(_ settings: LogSettings) { self.settings = Mutex(settings) }

    /// The settings in force.
    package var value: LogSettings { settings.withLock { $0 } }

    /// The least level of a line that is written.
    package var level: Logger.Level {
        switch value.level {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }

    /// Puts other settings in force, from the next line on.
    package func use(_ settings: LogSettings) { self.settings.withLock { $0 = settings } }
}
