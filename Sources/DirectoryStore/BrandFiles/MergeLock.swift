// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Host
import Primitives

/// The lock of one account's merges in SQLite, among all programs that use the state folder.
///
/// A merge makes many transactions, and two merges of one account would mix two files. The lock ends with its program.
struct MergeLock {
    private let file: FileLock

    /// Milliseconds between two attempts.
    private static let pause: UInt32 = 20
    /// Milliseconds between two steps of a merge, for other programs that wait for SQLite's lock.
    static let rest: UInt32 = 10

    /// Waits until no other merge of the account goes on; a merge that a program left behind is completed first.
    static func take(
        _ account: AccountID, _ database: DirectoryDatabase, _ turn: WorkTurn, now: @escaping () -> Int64
    ) throws -> MergeLock {
        while true {
            if let lock = try attempt(account, database.folder) {
                try LeftBehindMerges(database, turn: turn, now: now).finish(of: account)
                return lock
            }
            try turn.rest(milliseconds: pause)
        }
    }

    /// Takes the lock at once; nil while another merge goes on.
    static func attempt(_ account: AccountID, _ folder: String) throws -> MergeLock? {
        let path = "\(folder)/account-\(account.row).lock"
        if let file = FileLock.take(path, creates: true) {
            StateOwner.adopt(path, in: folder)
            return MergeLock(file: file)
        }
        let code = errno
        guard code == EWOULDBLOCK else { throw FileReplacementError(path: path, code: code) }
        return nil
    }

    /// Gives the lock back; without a call it ends with this value.
    func release() { withExtendedLifetime(file) {} }
}

/// Completes merges of imports whose program has ended: it was killed, lost power, or found the disk full.
package struct LeftBehindMerges {
    private let database: DirectoryDatabase
    private let turn: WorkTurn
    private let now: () -> Int64

    /// - Parameters:
    ///   - turn: the turn of the work among others.
    ///   - now: seconds since 1970.
    package init(_ database: DirectoryDatabase, turn: WorkTurn = .alone, now: @escaping () -> Int64) {
        (self.database, self.turn, self.now) = (database, turn, now)
    }

    /// A merge that was completed.
    package struct Finished: Hashable, Sendable {
        package let changed: Int
        package let deactivated: Int
    }

    /// Completes the merges of all accounts; one whose account has another merge in progress waits for the next call.
    ///
    /// - Throws: a database error, or an error of the turn; the merge is kept.
    package func finish() throws -> [Finished] {
        guard database.pool.dialect == .sqlite else { return [] }
        return try ImportJournal.leftBehind(in: database.folder).compactMap { journal in
            guard let merge = journal.merge else { return nil }
            let account = AccountID(row: merge.account)
            guard let lock = try MergeLock.attempt(account, database.folder) else { return nil }
            defer { lock.release() }
            return try finish(journal, merge)
        }
    }

    /// Completes the merges of an account whose lock the caller has.
    func finish(of account: AccountID) throws {
        for journal in ImportJournal.leftBehind(in: database.folder) {
            guard let merge = journal.merge, merge.account == account.row else { continue }
            _ = try finish(journal, merge)
        }
    }

    private func finish(_ journal: ImportJournal, _ merge: ImportJournal.Merge) throws -> Finished {
        let merged = try database.pool.session { session in
            let staging = try EntryStaging(session.connection, file: journal.rows)
            return try SteppedMerge(
                session: session, staging: staging, account: AccountID(row: merge.account), replaces: merge.replaces,
                now: now, rest: { try turn.rest(milliseconds: MergeLock.rest) }
            ).run()
        }
        journal.remove()
        return Finished(changed: merged.changed, deactivated: merged.deactivated)
    }
}
