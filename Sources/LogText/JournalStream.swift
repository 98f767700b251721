// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logging

/// Whether a program's standard error goes to the journal of systemd, and how a line tells it its priority.
///
/// Source: systemd.exec(5), `JOURNAL_STREAM`; sd-daemon(3), prefixes of log levels.
package enum JournalStream {
    /// True where standard error is the stream that systemd names.
    package static let isStandardError = isJournal(ProcessInfo.processInfo.environment["JOURNAL_STREAM"], 2)

    /// Whether a descriptor is the one of that device and inode: `9:12345`.
    static func isJournal(_ named: String?, _ descriptor: Int32) -> Bool {
        let parts = (named ?? "").split(separator: ":").map { UInt64($0) }
        var status = stat()
        guard parts.count == 2, let device = parts[0], let inode = parts[1], fstat(descriptor, &status) == 0 else {
            return false
        }
        return UInt64(status.st_dev) == device && UInt64(status.st_ino) == inode
    }

    /// `<4>` for a warning, as syslog numbers priorities.
    package static func prefix(_ level: Logger.Level) -> String {
        switch level {
        case .trace, .debug: "<7>"
        case .info: "<6>"
        case .notice: "<5>"
        case .warning: "<4>"
        case .error: "<3>"
        case .critical: "<2>"
        }
    }
}
