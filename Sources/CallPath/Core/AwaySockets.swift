// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The listening sockets whose address this machine does not have at present, such as one that VRRP moves.
///
/// Any thread. The call thread reads a number, and takes the lock after a change alone.
public final class AwaySockets: Sendable {
    private let sockets = Mutex<Set<Int>>([])
    /// Grows with each change.
    private let changes = Atomic<UInt64>(0)

    public init() {}

    /// The number of changes so far.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    /// Their positions in the list of listening sockets.
    public var positions: Set<Int> { sockets.withLock { $0 } }

    /// Replaces the positions.
    public func store(_ positions: Set<Int>) {
        let isNew = sockets.withLock { sockets in
            defer { sockets = positions }
            return sockets != positions
        }
        // After the positions: a thread that reads the new number reads these positions or newer ones.
        if isNew { changes.add(1, ordering: .releasing) }
    }
}
