// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// The brand file of a store: open for as long as the program, or opened for each use.
///
/// A gateway with a thousand accounts would otherwise hold six thousand descriptors and some 300 MB for files that are
/// used every half hour. Any thread.
final class BrandSource: Sendable {
    private let open: @Sendable () -> any DatabaseWriter
    private let current: Mutex<(any DatabaseWriter)?>
    private let rests: Bool

    /// A file that stays open.
    init(_ database: any DatabaseWriter) {
        open = { database }
        current = Mutex(database)
        rests = false
    }

    /// A file that `rest` closes and the next use opens.
    init(opening open: @escaping @Sendable () -> any DatabaseWriter) {
        self.open = open
        current = Mutex(nil)
        rests = true
    }

    /// The open file.
    var database: any DatabaseWriter {
        current.withLock { current in
            if let current { return current }
            let opened = open()
            current = opened
            return opened
        }
    }

    /// Closes the file until its next use.
    ///
    /// A use that has begun ends first. One that begins at this moment may fail, and its caller tries again.
    func rest() {
        guard rests else { return }
        let closing = current.withLock { $0.take() }
        try? closing?.close()
    }
}
