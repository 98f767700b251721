// SPDX-License-Identifier: Apache-2.0

import GRDB
import PostgreSQL
import Synchronization

/// Remembers that a database is damaged, from the first statement that found it.
///
/// Damage in one page shows in the statements that read this page only, so most requests succeed. A database that was
/// once damaged needs a restore, and no later success removes the record. Thread-safe.
final class DamageRecord: Sendable {
    /// The file or the server, as in texts.
    private let place: String
    private let state = Mutex<String?>(nil)

    init(of place: String) { self.place = place }

    /// The first damage, with cause and remedy; nil for none.
    var text: String? { state.withLock { $0 } }

    /// Keeps the first damage.
    func add(_ cause: String) {
        state.withLock { $0 = $0 ?? "\(place) is damaged (\(cause)); stop herald-directory and restore a backup" }
    }

    /// Runs a statement or a transaction, and records the damage that it finds.
    func watching<Value>(_ body: () throws -> Value) rethrows -> Value {
        do {
            return try body()
        } catch {
            if let cause = Self.cause(of: error) { add(cause) }
            throw error
        }
    }

    /// As above, for work on another thread.
    func watching<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
        do {
            return try await body()
        } catch {
            if let cause = Self.cause(of: error) { add(cause) }
            throw error
        }
    }

    /// The damage that an error means; nil for other errors.
    static func cause(of error: any Error) -> String? {
        if let error = error as? DatabaseError {
            switch error.resultCode {
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: return error.message ?? "\(error.resultCode)"
            default: return nil
            }
        }
        // PostgreSQL, appendix A: data_corrupted, index_corrupted.
        guard let error = error as? PostgreSQLError, ["XX001", "XX002"].contains(error.state) else { return nil }
        return "SQLSTATE \(error.state ?? "")"
    }
}
