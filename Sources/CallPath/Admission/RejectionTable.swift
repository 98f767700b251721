// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Synchronization

/// A table of rejected messages of fixed size, written by the call path and emptied by a service: one record for each
/// sender and cause.
///
/// Any thread. The call path never waits: where the table is in use or full, the message is counted alone.
public final class RejectionTable: Sendable {
    /// Records kept between two rounds of the service.
    private static let capacity = 256
    /// Places a record may lie at.
    private static let reach = 8

    private let records: Mutex<[Rejection?]>
    private let leftOut = Atomic<UInt64>(0)

    public init() { records = Mutex(Self.empty()) }

    private static func empty() -> [Rejection?] { [Rejection?](repeating: nil, count: capacity) }

    /// Leaves one message.
    func record(_ rejection: Rejection) {
        let isKept =
            records.withLockIfAvailable { records in
                let home = Self.home(of: rejection)
                for step in 0..<Self.reach {
                    let place = (home + step) & (Self.capacity - 1)
                    guard records[place] != nil else {
                        records[place] = rejection
                        return true
                    }
                    if records[place]?.isLike(rejection) == true {
                        records[place]?.add(rejection)
                        return true
                    }
                }
                return false
            } ?? false
        if !isKept { leftOut.wrappingAdd(1, ordering: .relaxed) }
    }

    private static func home(of rejection: Rejection) -> Int {
        var hasher = Hasher()
        hasher.combine(rejection.source.high)
        hasher.combine(rejection.source.low)
        return hasher.finalize()
    }

    /// Takes all records out, and how many messages were counted alone since the last time.
    public func take() -> (rejections: [Rejection], leftOut: UInt64) {
        var taken = Self.empty()
        records.withLock { swap(&$0, &taken) }
        return (taken.compactMap { $0 }, leftOut.exchange(0, ordering: .relaxed))
    }
}
