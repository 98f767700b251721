// SPDX-License-Identifier: Apache-2.0

package import Branding

/// The durable copy of the directory's records, as the sync side sees it.
///
/// A sync has two phases: its records wait in an intake while they come in, then `apply` makes them the dataset in one
/// all-or-nothing change. If either throws, the last dataset stays readable. Safe from any thread; never called on the
/// call path. Source: securenode-endpoint-contract §4.
package protocol BrandCache: Sendable {
    /// What the last successful sync left behind.
    func syncState() async throws -> SyncState
    /// An empty place for the records of one answer; one that was there before is thrown away.
    func intake() async throws -> any BrandIntake
    /// Applies one sync in one transaction.
    ///
    /// - Parameter intake: what `intake()` gave last; its records can still be read afterwards.
    /// - Returns: how many rows were written and removed.
    /// - Throws: a database error; nothing has changed then.
    func apply(_ change: SyncChange, from intake: any BrandIntake) async throws -> AppliedSync
    /// Moves what a sync wrote to its place on the disk, once calls see it; the disk's space comes back with a large one.
    ///
    /// A reader may be in the way: then it stays where it is until the next sync, and nothing is lost.
    func settle(_ applied: AppliedSync) async
    /// Notes that the directory had nothing new.
    func confirm(isFull: Bool, gates: BrandingGates, now: Int64) async throws
    /// Stores whether the directory tells what it no longer brands when asked, so that the first sync after a start asks.
    func store(hasTombstones: Bool) async throws
    /// Stores gates without touching records, after an event or lookup answer changed them or a 401 closed them.
    func store(gates: BrandingGates) async throws
}

/// Where the records of one answer wait until all of them are there.
///
/// Of several records for a number the newest stays; of equally old ones the later, and an inactive one before an active
/// one. Memory does not grow with their number. One task at a time.
package protocol BrandIntake: Sendable {
    func add(_ records: [BrandRecord], inactive: [InactiveNumber]) async throws
    /// Forgets what was added, for an answer that broke off and begins anew.
    func restart() async throws
    /// Calls `body` with the active numbers in ascending order, at most `limit` at a time.
    func forEachPage(of limit: Int, _ body: ([E164Number]) async throws -> Void) async throws
}

/// A number that the directory no longer brands.
package struct InactiveNumber: Hashable, Sendable {
    package var number: E164Number
    /// ISO 8601, to the letter; empty when it was not said.
    package var updatedAt: String

    package init(number: E164Number, updatedAt: String) {
        self.number = number
        self.updatedAt = updatedAt
    }
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
    /// By what the next full request is conditional; nil once records have changed since that answer.
    package var fullValidator: SyncValidator?
    /// By what the next request with `cursor` is conditional.
    package var cursorValidator: SyncValidator?
    /// Whether the directory said last that it tells what it no longer brands when asked; nil while it has not spoken of it.
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

/// What an HTTP answer said of its version, to be sent back with the same request (RFC 9110 §8.8, §13.1).
package struct SyncValidator: Codable, Hashable, Sendable {
    /// `ETag`, to the letter.
    package var tag: String?
    /// `Last-Modified`, to the letter.
    package var modified: String?

    /// Nil when the answer had neither.
    package init?(tag: String?, modified: String?) {
        guard tag != nil || modified != nil else { return nil }
        self.tag = tag
        self.modified = modified
    }
}

/// One answer of the directory, whose records wait in an intake.
package struct SyncChange: Sendable {
    /// True when the records are the whole authoritative set; what is not among them goes.
    package var isFull: Bool
    /// The server's `synced_at`; nil leaves the cursor where it was, so that the same request can be repeated.
    package var cursor: String?
    /// Of this answer, if it had one.
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
