// SPDX-License-Identifier: Apache-2.0

import GRDB

extension HeraldDatabaseError {
    /// The refusal of a write by the disk or the file system; nil for another error.
    init?(refusal error: any Error, path: String) {
        guard let error = error as? DatabaseError else { return nil }
        switch error.resultCode {
        case .SQLITE_FULL: self.init(path: path, problem: .full)
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_PERM:
            self.init(path: path, problem: .unwritable(error.message ?? "\(error.resultCode)"))
        default: return nil
        }
    }
}

extension HeraldDatabaseError {
    /// The reason for which a file cannot be read: its damage, else the text of the database.
    init(reading error: any Error, path: String) {
        if let known = error as? HeraldDatabaseError ?? HeraldDatabase.damage(shownBy: error, path: path) {
            self = known
        } else {
            self.init(path: path, problem: .open((error as? DatabaseError)?.message ?? "\(error)"))
        }
    }
}

extension DatabaseWriter {
    /// Runs a transaction, with `HeraldDatabaseError` for a refusal by the disk.
    ///
    /// - Throws: path, cause and remedy of a full or read-only disk, instead of the SQL statement; other errors unchanged.
    func change<Value: Sendable>(_ updates: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await explained { try await write(updates) }
    }

    /// The same for work that opens its own transaction.
    func explained<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch {
            let path = (self as? DatabasePool)?.path ?? (self as? DatabaseQueue)?.path ?? "the database"
            throw HeraldDatabaseError(refusal: error, path: path) ?? error
        }
    }
}
