// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Logging

/// Detects if standard error leads to the journal of systemd, and writes the priority of a line for it.
///
/// Source: systemd.exec(5), `JOURNAL_STREAM`; sd-daemon(3), prefixes of log levels.
public enum JournalStream {
    /// True if standard error is the stream that systemd names.
    public static let isStandardError = isJournal(ProcessInfo.processInfo.environment["JOURNAL_STREAM"], 2)

    /// True if the descriptor has this device and inode, such as `9:12345`.
    static func isJournal(_ named: String?, _ descriptor: Int32) -> Bool {
        let parts = (named ?? "").split(separator: ":").map { UInt64($0) }
        var status = stat()
        guard parts.count == 2, let device = parts[0], let inode = parts[1], fstat(descriptor, &status) == 0 else {
            return false
        }
        return UInt64(status.st_dev) == device && UInt64(status.st_ino) == inode
    }

    /// Returns the priority by syslog's numbers, such as `<4>` for a warning.
    public static func prefix(_ level: Logger.Level) -> String {
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
