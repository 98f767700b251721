// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Primitives

/// The texts of one row, lent to SQLite while its statement runs.
///
/// SQLite makes a copy of each text that may be gone when the statement runs: 5 % of the recorder's instructions. These
/// texts are bound when the run begins and unbound at its end, so SQLite never has a place that is gone.
///
/// `@exclusivity(unchecked)`: nothing that an access calls reaches this object; `lend` only reads while it calls `run`.
final class RowTexts {
    @exclusivity(unchecked) private var bytes = TextBuffer(capacity: 4_096)
    @exclusivity(unchecked) private var places: [Place] = []

    /// A parameter, and its text among the bytes.
    typealias Place = (index: CInt, range: Range<Int>)

    /// Keeps a text for the parameter at `index`.
    func add(_ text: UnsafeRawBufferPointer, at index: CInt) {
        places.append((index, bytes.append(text)))
    }

    /// Binds the texts, calls `run`, which must reset the statement, and forgets the texts.
    func lend(to statement: OpaquePointer, _ run: () throws -> Void) rethrows {
        defer {
            places.removeAll(keepingCapacity: true)
            bytes.removeAll()
        }
        try Self.lend(bytes, at: places, to: statement, run)
    }

    /// Binds texts, calls `run`, which must reset the statement, and makes all parameters NULL.
    static func lend(
        _ bytes: TextBuffer, at places: [Place], to statement: OpaquePointer, _ run: () throws -> Void
    ) rethrows {
        defer { sqlite3_clear_bindings(statement) }
        try bytes.withUnsafeBytes { bytes in
            for (index, range) in places {
                guard let start = UnsafeRawBufferPointer(rebasing: bytes[range]).baseAddress, !range.isEmpty else {
                    sqlite3_bind_text(statement, index, "", 0, nil)
                    continue
                }
                sqlite3_bind_text(
                    statement, index, start.assumingMemoryBound(to: CChar.self), CInt(range.count), nil)
            }
            try run()
        }
    }
}
