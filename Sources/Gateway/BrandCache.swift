// SPDX-License-Identifier: Apache-2.0

package import Branding

/// The durable copy of the directory's records, as the sync side sees it.
///
/// `apply` is one all-or-nothing change: if it throws, the last dataset stays
/// readable. Safe from any thread; never called on the call path.
package protocol BrandCache: Sendable {
    /// What the last successful sync left behind.
    func syncState() async throws -> SyncState
    /// Applies one sync in one transaction.
    ///
    /// - Returns: how many rows were written and removed.
    /// - Throws: a database error; nothing has changed then.
    func apply(_ change: SyncChange) async throws -> AppliedSync
    /// Stores gates without touching records, after an event or lookup answer changed them or a 401 closed them.
    func store(gates: BrandingGates) async throws
}

/// Where the next sync goes on.
package struct SyncState: Hashable, Sendable {
    /// The server's `synced_at`, kept to the letter; nil before the first sync.
    package var cursor: String?
    /// Seconds since 1970 of the last full sync; nil before the first.
    package var lastFullSync: Int64?
    /// Seconds since 1970 of the last successful sync of either kind.
    package var lastSync: Int64?
    package var gates: BrandingGates
    /// Grows by one with every change of records; ties a saved index to the rows it was built from.
    package var generation: Int64

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

/// One answer of the directory, ready to be stored.
package struct SyncChange: Sendable {
    /// True when `upserts` is the whole authoritative set; what is not in it goes.
    package var isFull: Bool
    package var upserts: [BrandRecord]
    /// Numbers the server marked inactive (`is_active: false`).
    package var removals: [E164Number]
    /// The server's `synced_at`.
    package var cursor: String
    package var gates: BrandingGates
    /// Seconds since 1970.
    package var now: Int64

    package init(
        isFull: Bool, upserts: [BrandRecord], removals: [E164Number], cursor: String, gates: BrandingGates, now: Int64
    ) {
        self.isFull = isFull
        self.upserts = upserts
        self.removals = removals
        self.cursor = cursor
        self.gates = gates
        self.now = now
    }
}

/// What a sync changed.
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
