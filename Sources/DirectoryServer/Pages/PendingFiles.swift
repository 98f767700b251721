// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Files that an operator sent and has not confirmed, in memory or on disk; the oldest gives way.
final class PendingFiles<Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let began: Int64
        let path: String?
    }

    /// Files kept at once.
    static var most: Int { 8 }
    /// Seconds for which a file is kept.
    static var lifetime: Int64 { 3600 }

    private let entries = Mutex<[String: Entry]>([:])
    private let now: @Sendable () -> Int64

    /// - Parameter now: seconds since 1970.
    init(now: @escaping @Sendable () -> Int64) { self.now = now }

    /// Keeps a value under a new identifier.
    ///
    /// - Parameter path: a file that is removed together with the value.
    func add(_ value: Value, path: String? = nil) -> String {
        let (id, now) = (UUID().uuidString.lowercased(), now())
        entries.withLock { entries in
            for (old, entry) in entries where now - entry.began >= Self.lifetime || entry.began > now {
                Self.drop(entries.removeValue(forKey: old))
            }
            while entries.count >= Self.most, let oldest = entries.min(by: { $0.value.began < $1.value.began }) {
                Self.drop(entries.removeValue(forKey: oldest.key))
            }
            entries[id] = Entry(value: value, began: now, path: path)
        }
        return id
    }

    /// The value; nil if it was removed.
    func find(_ id: String) -> Value? {
        entries.withLock { entries in
            guard let entry = entries[id], now() - entry.began < Self.lifetime else { return nil }
            return entry.value
        }
    }

    /// Puts another value in place of one that is still kept.
    func replace(_ id: String, by value: Value) {
        entries.withLock { entries in
            guard let entry = entries[id] else { return }
            entries[id] = Entry(value: value, began: entry.began, path: entry.path)
        }
    }

    /// Removes a value and its file.
    func remove(_ id: String) {
        entries.withLock { Self.drop($0.removeValue(forKey: id)) }
    }

    private static func drop(_ entry: Entry?) {
        if let path = entry?.path { unlink(path) }
    }
}
