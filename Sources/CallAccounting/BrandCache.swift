// SPDX-License-Identifier: Apache-2.0

public import Branding

/// The durable copy of the directory's records, as the sync side sees it.
///
/// A sync has two phases. Its records wait in an intake while they arrive; then `apply` makes them the dataset in one
/// atomic change. If either throws, the last dataset stays readable. Safe from any thread; never called on the
/// call path. Source: securenode-endpoint-contract §4.
public protocol BrandCache: Sendable {
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
    /// Stores the addresses of the public cards, or that the account has none.
    func store(cards: CardLinks?) async throws
    /// Stores gates alone, after an event or lookup response changed them or a 401 closed them.
    func store(gates: BrandingGates) async throws
}

/// Holds the records of one response until it is complete.
///
/// Of several records for a number the newest stays. Of equally old ones the later stays, and an inactive one before an
/// active one. Memory does not grow with their number. One task at a time.
public protocol BrandIntake: Sendable {
    func add(_ records: [BrandRecord], inactive: [InactiveNumber]) async throws
    /// Discards the records of a response that broke off and begins again.
    func restart() async throws
    /// Calls `body` with the active numbers in ascending order, at most `limit` at a time.
    func forEachPage(of limit: Int, _ body: ([E164Number]) async throws -> Void) async throws
}

/// A number that the directory no longer brands.
public struct InactiveNumber: Hashable, Sendable {
    public var number: E164Number
    /// ISO 8601, unchanged; empty if absent.
    public var updatedAt: String

    public init(number: E164Number, updatedAt: String) {
        self.number = number
        self.updatedAt = updatedAt
    }
}

/// The starting point of the next sync.
public struct SyncState: Hashable, Sendable {
    /// The server's `synced_at`, unchanged; nil before the first sync.
    public var cursor: String?
    /// Seconds since 1970 of the last full sync; nil before the first.
    public var lastFullSync: Int64?
    /// Seconds since 1970 of the last successful sync of either kind.
    public var lastSync: Int64?
    public var gates: BrandingGates
    /// Grows by one with every change of records; ties a saved index to the rows it was built from.
    public var generation: Int64
    /// Validator of the next full request; nil once records have changed since that response.
    public var fullValidator: SyncValidator?
    /// Validator of the next request with `cursor`.
    public var cursorValidator: SyncValidator?
    /// Whether the directory reports removed numbers on request; nil if unknown.
    public var hasTombstones: Bool?
    /// The public cards of the account's brands; nil without cards.
    public var cards: CardLinks?

    public init(
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
public struct SyncValidator: Codable, Hashable, Sendable {
    /// `ETag`, unchanged.
    public var tag: String?
    /// `Last-Modified`, unchanged.
    public var modified: String?

    /// Nil if the response had neither.
    public init?(tag: String?, modified: String?) {
        guard tag != nil || modified != nil else { return nil }
        self.tag = tag
        self.modified = modified
    }
}

/// One response of the directory, whose records wait in an intake.
public struct SyncChange: Sendable {
    /// True if the records are the whole authoritative set; other records are removed.
    public var isFull: Bool
    /// The server's `synced_at`; nil leaves the cursor, so that the same request can be repeated.
    public var cursor: String?
    /// The validator of this response, if any.
    public var validator: SyncValidator?
    public var gates: BrandingGates
    /// Seconds since 1970.
    public var now: Int64

    public init(
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
public struct AppliedSync: Hashable, Sendable {
    public var written: Int
    public var removed: Int
    /// Records in the cache afterwards.
    public var total: Int
    public var generation: Int64

    public init(written: Int, removed: Int, total: Int, generation: Int64) {
        self.written = written
        self.removed = removed
        self.total = total
        self.generation = generation
    }
}
