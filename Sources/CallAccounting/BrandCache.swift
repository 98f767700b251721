// SPDX-License-Identifier: Apache-2.0

package import Branding

/// The durable copy of the directory's records, as the sync side sees it.
///
/// A sync has two phases. Its records wait in an intake while they arrive; then `apply` makes them the dataset in one
/// atomic change. If either throws, the last dataset stays readable. Safe from any thread; never called on the
/// call path. Source: securenode-endpoint-contract §4.
package protocol BrandCache: Sendable {
    /// The state after the last successful sync.
    func syncState() async throws -> SyncState
    /// An empty intake for the records of one response; an earlier intake is discarded.
    func intake() async throws -> any BrandIntake
    /// Applies one sync in one transaction.
    ///
    /// - Parameter intake: the last result of `intake()`; its records can still be read afterwards.
    /// - Returns: how many rows were written and removed.
    /// - Throws: a database error; nothing has changed then.
    func apply(_ change: SyncChange, from intake: any BrandIntake) async throws -> AppliedSync
    /// Checkpoints the write-ahead log after calls use the new dataset; a large one gives space back.
    ///
    /// A reader may prevent it; the log then stays until the next sync.
    func settle(_ applied: AppliedSync) async
    /// Records a sync without changes.
    func confirm(isFull: Bool, gates: BrandingGates, now: Int64) async throws
    /// Stores whether the directory reports removed numbers on request, for the first sync after a start.
    func store(hasTombstones: Bool) async throws
    /// Stores gates alone, after an event or lookup response changed them or a 401 closed them.
    func store(gates: BrandingGates) async throws
}

/// Holds the records of one response until it is complete.
///
/// Of several records for a number the newest stays. Of equally old ones the later stays, and an inactive one before an
/// active one. Memory does not grow with their number. One task at a time.
package protocol BrandIntake: Sendable {
    func add(_ records: [BrandRecord], inactive: [InactiveNumber]) async throws
    /// Discards the records of a response that broke off and begins again.
    func restart() async throws
    /// Calls `body` with the active numbers in ascending order, at most `limit` at a time.
    func forEachPage(of limit: Int, _ body: ([E164Number]) async throws -> Void) async throws
}

/// A number that the directory no longer brands.
package struct InactiveNumber: Hashable, Sendable {
    package var number: E164Number
    /// ISO 8601, unchanged; empty if absent.
    package var updatedAt: String

    package init(number: E164Number, updatedAt: String) {
        self.number = number
        self.updatedAt = updatedAt
    }
}

/// The starting point of the next sync.
package struct SyncState: Hashable, Sendable {
    /// The server's `synced_at`, unchanged; nil before the first sync.
    package var cursor: String?
    /// Seconds since 1970 of the last full sync; nil before the first.
    package var lastFullSync: Int64?
    /// Seconds since 1970 of the last successful sync of either kind.
    package var lastSync: Int64?
    package var gates: BrandingGates
    /// Grows by one with every change of records; ties a saved index to the rows it was built from.
    package var generation: Int64
    /// Validator of the next full request; nil once records have changed since that response.
    package var fullValidator: SyncValidator?
    /// Validator of the next request with `cursor`.
    package var cursorValidator: SyncValidator?
    /// Whether the directory reports removed numbers on request; nil if unknown.
    package var hasTombstones: Bool?

    package init(
        cursor: String? = nil, lastFullSync: Int64? = nil, lastSync: Int64? = nil, gates: BrandingGates = .init(),
        generation: Int64 = 0
    ) {
        self.cursor = cursor
        self.lastFullSync = lastFullSync
        self.lastSync = lastSync
        self.gates = gates
        self.generation = generation
    }
}

/// The validators of an HTTP response, for the next conditional request (RFC 9110 §8.8, §13.1).
package struct SyncValidator: Codable, Hashable, Sendable {
    /// `ETag`, unchanged.
    package var tag: String?
    /// `Last-Modified`, unchanged.
    package var modified: String?

    /// Nil if the response had neither.
    package init?(tag: String?, modified: String?) {
        guard tag != nil || modified != nil else { return nil }
        self.tag = tag
        self.modified = modified
    }
}

/// One response of the directory, whose records wait in an intake.
package struct SyncChange: Sendable {
    /// True if the records are the whole authoritative set; other records are removed.
    package var isFull: Bool
    /// The server's `synced_at`; nil leaves the cursor, so that the same request can be repeated.
    package var cursor: String?
    /// The validator of this response, if any.
    package var validator: SyncValidator?
    package var gates: BrandingGates
    /// Seconds since 1970.
    package var now: Int64

    package init(
        isFull: Bool, cursor: String?, validator: SyncValidator? = nil, gates: BrandingGates, now: Int64
    ) {
        self.isFull = isFull
        self.cursor = cursor
        self.validator = validator
        self.gates = gates
        self.now = now
    }
}

/// The changes of a sync.
package struct AppliedSync: Hashable, Sendable {
    package var written: Int
    package var removed: Int
    /// Records in the cache afterwards.
    package var total: Int
    package var generation: Int64

    package init(written: Int, removed: Int, total: Int, generation: Int64) {
        self.written = written
        self.removed = removed
        self.total = total
        self.generation = generation
    }
}
