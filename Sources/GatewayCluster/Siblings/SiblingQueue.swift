// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore

/// Updates that wait to be sent to one sibling.
///
/// Updates of calls of other gateways come first: their owner learns of them in no other way. Updates of own calls matter
/// only where both gateways got the INVITE. Both lists are bounded; the oldest updates are dropped and counted.
struct SiblingQueue: Sendable {
    /// Longest lists, in updates of 72 bytes or less.
    static let mostForeign = 65_536
    static let mostOwn = 16_384

    private var foreign = BoundedList(capacity: mostForeign)
    private var own = BoundedList(capacity: mostOwn)

    var count: Int { foreign.count + own.count }
    /// Updates of other gateways' calls that were dropped.
    var dropped: UInt64 { foreign.dropped }
    /// Updates of own calls that were dropped.
    var droppedOwn: UInt64 { own.dropped }

    mutating func append(_ reported: [ReportedUpdate]) {
        for report in reported {
            if report.isOwn { own.append(report.update) } else { foreign.append(report.update) }
        }
    }

    /// Takes out the next updates, at most `count`.
    mutating func take(_ count: Int) -> [CallUpdate] {
        let first = foreign.take(count)
        return first + own.take(count - first.count)
    }
}

/// A list that forgets its oldest elements.
private struct BoundedList: Sendable {
    private var updates: [CallUpdate] = []
    private var start = 0
    private let capacity: Int
    private(set) var dropped: UInt64 = 0

    init(capacity: Int) { self.capacity = capacity }

    var count: Int { updates.count - start }

    mutating func append(_ update: CallUpdate) {
        if count >= capacity {
            start += 1
            dropped += 1
        }
        updates.append(update)
        tidy()
    }

    mutating func take(_ most: Int) -> [CallUpdate] {
        let taken = Array(updates[start...].prefix(max(0, most)))
        start += taken.count
        tidy()
        return taken
    }

    /// Gives the taken elements back once they are half of the list.
    private mutating func tidy() {
        guard start > 1_024, start * 2 > updates.count else { return }
        updates.removeSubrange(..<start)
        start = 0
    }
}
