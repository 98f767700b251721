// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite

/// The texts of one row, lent to SQLite while its statement runs.
///
/// SQLite makes a copy of each text that may be gone when the statement runs: 5 % of the recorder's instructions. These
/// texts are bound when the run begins and unbound at its end, so SQLite never has a place that is gone.
///
/// `@exclusivity(unchecked)`: nothing that an access calls reaches this object; `lend` only reads while it calls `run`.
final class RowTexts {
    @exclusivity(unchecked) private var bytes: [UInt8] = []
    @exclusivity(unchecked) private var places: [(index: CInt, range: Range<Int>)] = []

    /// Keeps a text for the parameter at `index`.
    func add(_ text: UnsafeRawBufferPointer, at index: CInt) {
        let start = bytes.count
        bytes.append(contentsOf: text)
        places.append((index, start..<bytes.count))
    }

    /// Binds the texts, calls `run`, which must reset the statement, and forgets the texts.
    func lend(to statement: OpaquePointer, _ run: () throws -> Void) rethrows {
        defer {
            for place in places { sqlite3_bind_null(statement, place.index) }
            places.removeAll(keepingCapacity: true)
            bytes.removeAll(keepingCapacity: true)
        }
        try bytes.withUnsafeBytes { bytes in
            for (index, range) in places {
                guard let start = bytes.baseAddress, !range.isEmpty else {
                    sqlite3_bind_text(statement, index, "", 0, nil)
                    continue
                }
                let text = (start + range.lowerBound).assumingMemoryBound(to: CChar.self)
                sqlite3_bind_text(statement, index, text, CInt(range.count), nil)
            }
            try run()
        }
    }
}
