// SPDX-License-Identifier: Apache-2.0

/// Returns each call once when it has ended: `herald calls --follow`.
package struct CallFollower: Sendable {
    private let reader: LedgerReader
    private let filter: CallFilter
    private var newest: Int64
    private var open: Set<Int64>

    /// Begins after the present calls of the ledger; open calls are still awaited.
    package init(_ reader: LedgerReader, _ filter: CallFilter) throws {
        self.reader = reader
        self.filter = filter
        (newest, open) = try reader.standing()
    }

    /// The calls that pass the filter and ended since the last look, in the order of their begin.
    package mutating func next() throws -> [LedgerCallRow] {
        let (last, stillOpen) = try reader.standing()
        var ended = open.subtracting(stillOpen)
        if last > newest { ended.formUnion(Set((newest + 1)...last).subtracting(stillOpen)) }
        (newest, open) = (last, stillOpen)
        guard !ended.isEmpty else { return [] }
        var filter = filter
        filter.rows = ended
        return try reader.calls(matching: filter, limit: ended.count).reversed()
    }
}
