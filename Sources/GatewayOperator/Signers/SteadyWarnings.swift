// SPDX-License-Identifier: Apache-2.0

import GatewaySync
import Logging
import Synchronization

/// Logs a warning that goes on once in ten minutes, and another one at once. Any thread.
final class SteadyWarnings: Sendable {
    private let time: ServiceClock
    private let logger: Logger
    /// Texts with the times of their last lines, by the steady clock.
    private let logged = Mutex<[String: Int64]>([:])

    /// Seconds between two lines of one text.
    private static let interval: Int64 = 600
    /// The most texts in memory; foreign text must not fill it.
    private static let most = 20

    init(time: ServiceClock, logger: Logger) {
        self.time = time
        self.logger = logger
    }

    /// Logs the text unless it was logged lately.
    func log(_ text: String) {
        let now = time.steady()
        let isDue = logged.withLock { logged in
            logged = logged.filter { now - $0.value < Self.interval }
            guard logged[text] == nil, logged.count < Self.most else { return false }
            logged[text] = now
            return true
        }
        if isDue { logger.warning("\(text)") }
    }
}
