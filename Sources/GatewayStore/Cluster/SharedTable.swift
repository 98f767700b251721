// SPDX-License-Identifier: Apache-2.0

/// Tables of the ledger that gateways share, with the columns that both databases have under one name.
///
/// Those of calls come from `CallColumn`. A column that is added here needs a step in the migrations of both databases.
package enum SharedTable: Int64, CaseIterable, Sendable {
    case call = 0
    case event = 1
    /// Updates of calls that other gateways have: facts, without numbers.
    case signal = 2
    /// Ended calls that may be returned, and outbound calls that may return one: facts.
    case returnCandidate = 3

    /// A column and the type of its values.
    package struct Column: Sendable, Hashable {
        package enum Kind: Sendable, Hashable {
            case integer
            case text
            case bytes
        }

        package let name: String
        package let kind: Kind
        /// The step of the shared ledger's schema that adds it; 1 for a column of the first table.
        package var step = 1
        package var isText: Bool { kind == .text }
    }

    /// The name in both databases.
    package var name: String {
        switch self {
        case .call: "call"
        case .event: "event"
        case .signal: "call_signal"
        case .returnCandidate: "return_candidate"
        }
    }

    /// Whether rows are facts that never change: they are shipped once, in the order of their numbers.
    ///
    /// Their column `at` is the clock of the gateway here and the clock of the server there. The gateway's own ledger
    /// deletes them once they are shipped.
    package var isAppendOnly: Bool { self == .signal || self == .returnCandidate }

    /// All columns; `id` is the first.
    package var columns: [Column] {
        switch self {
        case .call: Self.callColumns
        case .event: Self.eventColumns
        case .signal: Self.signalColumns
        case .returnCandidate: Self.candidateColumns
        }
    }

    private static let callColumns = [false, true].flatMap { isText in
        CallColumn.all.filter { ($0.kind == .text) == isText }.map { column in
            Column(name: column.name, kind: isText ? .text : .integer, step: column.added?.shared ?? 1)
        }
    }

    private static let eventColumns = columns(
        integers: ["id", "created_at", "state", "attempts", "due_at", "counted", "status", "settled_at"],
        texts: ["key", "number", "surface", "displayed_at", "meta", "event_id", "reason", "customer"])

    /// `other_call_id` is the call if the callee sent the message, `bytes` the update as `CallUpdate.bytes`.
    private static let signalColumns = columns(
        integers: ["id", "at"], texts: ["call_id", "other_call_id"], bytes: ["bytes"])

    /// A `direction` of 1 is an original with its end, 2 a call back with its INVITE; `call` is the row of the call.
    private static let candidateColumns = columns(
        integers: ["id", "at", "direction", "call", "number"], texts: ["call_id", "subscriber_key", "brand_id"])

    private static func columns(integers: [String], texts: [String], bytes: [String] = []) -> [Column] {
        integers.map { Column(name: $0, kind: .integer) } + texts.map { Column(name: $0, kind: .text) }
            + bytes.map { Column(name: $0, kind: .bytes) }
    }
}

/// Rows of a shared table, column by column.
package struct SharedRows: Sendable, Hashable {
    /// The values of one column.
    package enum Values: Sendable, Hashable {
        case integers([Int64?])
        case texts([String?])
        case bytes([[UInt8]?])
    }

    package let table: SharedTable
    /// In the order of `SharedTable.columns`.
    package var columns: [Values]

    /// Begins without rows.
    package init(_ table: SharedTable) {
        self.table = table
        columns = table.columns.map { column in
            switch column.kind {
            case .integer: .integers([])
            case .text: .texts([])
            case .bytes: .bytes([])
            }
        }
    }

    /// Number of rows.
    package var count: Int {
        guard case .integers(let ids)? = columns.first else { return 0 }
        return ids.count
    }
}

/// Identifies an opened ledger file.
package struct SharedOrigin: Hashable, Sendable {
    /// The number of the file: another file of the same gateway numbers its rows anew.
    package let ledger: Int64
    /// Another number each time the file is opened, because a copy of it may have taken its place.
    package let opening: Int64

    package init(ledger: Int64, opening: Int64) { (self.ledger, self.opening) = (ledger, opening) }
}

/// Changes of a ledger since a position.
package struct SharedChanges: Sendable {
    /// The file that has them.
    package let origin: SharedOrigin
    /// The position after these changes; equal to the requested one without changes.
    package let through: Int64
    /// Whether further changes follow.
    package let isLast: Bool
    /// The present rows of all changed calls and events.
    package let rows: [SharedRows]

    package init(origin: SharedOrigin, through: Int64, isLast: Bool, rows: [SharedRows]) {
        (self.origin, self.through, self.isLast, self.rows) = (origin, through, isLast, rows)
    }
}

/// The last signal that was read of a writer: one ledger file of a gateway numbers its signals in order.
package struct SignalCursor: Hashable, Sendable {
    /// The gateway's number in the shared ledger.
    package let node: Int64
    package let ledger: Int64
    package let id: Int64

    package init(node: Int64, ledger: Int64, id: Int64) { (self.node, self.ledger, self.id) = (node, ledger, id) }
}

/// The source of changes of this gateway's ledger; the store plays this role.
///
/// Every function may block on the disk.
package protocol SharedChangeSource: Sendable {
    /// Identifies the ledger's file.
    func origin() throws -> SharedOrigin
    /// The last change that this file may have shipped so far; a shared ledger with a later one has it from another copy.
    func lastKnown() throws -> Int64
    /// Records that the position of the shared ledger is one of this file.
    func confirm(_ origin: SharedOrigin) throws
    /// Gives the file another number, because the shared ledger has later changes of another copy.
    ///
    /// - Parameter position: the last change that the shared ledger has of this copy, if it was opened before that.
    func beginAnew(after position: Int64) throws
    /// The changes after a position, at most `limit`.
    func changes(after position: Int64, limit: Int) throws -> SharedChanges
    /// Forgets changes up to a position, because the shared ledger has them.
    func forget(through position: Int64) throws
    /// Number of changes after a position.
    func waiting(after position: Int64) throws -> Int
}
