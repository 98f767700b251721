// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Logging
import Synchronization

/// The least level of a line in the log, which a reload changes.
///
/// Any thread.
final class LogLevel: Sendable {
    private let level: Mutex<Logger.Level>

    init(_ settings: LogSettings) { level = Mutex(Self.level(settings)) }

    /// The level in force.
    var value: Logger.Level { level.withLock { $0 } }

    /// Puts another level in force, from the next line on.
    func use(_ settings: LogSettings) { level.withLock { $0 = Self.level(settings) } }

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
}
