// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Writes log lines on a queue of its own, so that no caller waits for a terminal or a disk.
///
/// Lines above a limit are left out and counted.
final class LogQueue: Sendable {
    private struct Waiting {
        var lines = 0
        var leftOut = 0
    }

    private let most: Int
    private let queue: DispatchQueue
    private let waiting = Mutex(Waiting())
    private let reportLeftOut: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - label: name of the queue.
    ///   - most: largest number of lines that wait.
    ///   - reportLeftOut: gets the number of lines left out; runs on the queue.
    init(label: String, most: Int, reportLeftOut: @escaping @Sendable (Int) -> Void) {
        self.most = most
        queue = DispatchQueue(label: label)
        self.reportLeftOut = reportLeftOut
    }

    /// Adds lines; any thread, does not wait.
    ///
    /// - Parameter write: writes as many of the lines as the limit allows; does not run for none.
    func append(_ lines: Int = 1, write: @escaping @Sendable (_ lines: Int) -> Void) {
        let taken = waiting.withLock { waiting in
            let taken = min(lines, most - waiting.lines)
            waiting.lines += taken
            waiting.leftOut += lines - taken
            return taken
        }
        guard taken > 0 else { return }
        queue.async {
            write(taken)
            self.finish(taken)
        }
    }

    private func finish(_ lines: Int) {
        let leftOut = waiting.withLock { waiting in
            waiting.lines -= lines
            defer { waiting.leftOut = 0 }
            return waiting.leftOut
        }
        if leftOut > 0 { reportLeftOut(leftOut) }
    }
}
