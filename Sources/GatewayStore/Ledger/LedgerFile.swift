// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Host
import Synchronization

/// The ledger's file in the state folder: open, or unavailable for a reason that an operator can remove.
///
/// No state of the file stops a call. Users of the ledger get `HeraldDatabaseError` until it is available. A damaged
/// file is renamed and a new one begun. A file of a newer herald is left alone. Safe from any thread; blocks for the
/// disk.
package final class LedgerFile: Sendable {
    private struct State {
        var database: (any DatabaseWriter)?
        var identity: FileIdentity?
        var problem: HeraldDatabaseError
        /// True if SQLite has refused a write to the open file as one for reading only.
        var isReadOnly = false
        /// Microseconds of the monotonic clock.
        var lastSetAside: Int64?
    }

    /// Least time between two damaged files that are set aside, so that a broken disk does not fill up.
    private static let pause: Int64 = 3_600_000_000

    package let path: String
    private let folder: String
    private let isShared: Bool?
    private let steady: @Sendable () -> Int64
    private let state: Mutex<State>

    /// Opens nothing yet.
    ///
    /// - Parameters:
    ///   - isShared: whether the file records its changes for a shared ledger; nil to leave that as it is.
    ///   - steady: microseconds of the monotonic clock.
    init(
        folder: String, isShared: Bool? = nil,
        steady: @escaping @Sendable () -> Int64 = { SteadyClock.microseconds }
    ) {
        self.folder = folder
        self.isShared = isShared
        self.steady = steady
        path = HeraldDatabase.ledgerPath(in: folder)
        state = Mutex(State(problem: HeraldDatabaseError(path: path, problem: .missing)))
    }

    /// The open database.
    ///
    /// - Throws: the reason why there is none.
    var database: any DatabaseWriter {
        get throws(HeraldDatabaseError) {
            try state.withLock { state throws(HeraldDatabaseError) in
                guard let database = state.database else { throw state.problem }
                return database
            }
        }
    }

    /// Opens or creates the file, and its folder.
    ///
    /// - Throws: the reason, which is kept as well.
    func open() throws(HeraldDatabaseError) {
        do throws(HeraldDatabaseError) {
            try HeraldDatabase.makeFolder(folder)
            let database = try HeraldDatabase.pool(
                path: path, durability: "FULL", migrations: Migrations.ledger, prepare: recordChanges)
            state.withLock { state in
                state.database = database
                state.identity = FileIdentity(path)
                state.isReadOnly = false
            }
        } catch {
            state.withLock { state in
                state.database = nil
                state.problem = error
            }
            throw error
        }
    }

    /// Begins or ends the list of changes, before the first one.
    private func recordChanges(in database: any DatabaseWriter) throws {
        switch isShared {
        case true?: try ChangeRecording.begin(in: database)
        // A list that nobody reads may stay where nothing can be written.
        case false?: try? ChangeRecording.stop(in: database)
        case nil: break
        }
    }

    /// Keeps the refusal of a write, if the open file can only be read.
    func record(refusal error: any Error) {
        guard (error as? DatabaseError)?.resultCode == .SQLITE_READONLY else { return }
        state.withLock { $0.isReadOnly = $0.database != nil }
    }

    /// Whether the open file is one for reading only for SQLite, and may be written again.
    ///
    /// SQLite writes it only after it was opened once more.
    var needsOpening: Bool { state.withLock { $0.isReadOnly } && HeraldDatabase.refusal(to: path) == nil }

    /// Opens the file once more.
    ///
    /// - Returns: true if it is the same file, so that what is in memory fits it.
    /// - Throws: the reason why there is no ledger.
    func openAgain() throws -> Bool {
        let before = state.withLock { $0.identity }
        // All connections of a process share the read-only `-shm` file until the last one is closed.
        try? close()
        try open()
        return state.withLock { $0.identity == before }
    }

    /// Opens the file for a gateway; a damaged file is renamed and a new one begun.
    ///
    /// - Returns: the file that was set aside and its damage; nil for none.
    /// - Throws: the reason why there is no ledger.
    @discardableResult
    func openOrReplace() throws(HeraldDatabaseError) -> SetAsideFile? {
        do throws(HeraldDatabaseError) {
            try open()
            return nil
        } catch {
            guard case .damaged = error.problem else { throw error }
            return try replace(because: error)
        }
    }

    /// Renames the damaged file, with the time in its name, and begins a new one.
    ///
    /// - Throws: the damage, if the folder cannot be written or a file was set aside within the last hour.
    func replace(because damage: HeraldDatabaseError) throws(HeraldDatabaseError) -> SetAsideFile {
        let now = steady()
        let mayReplace = state.withLock { state in
            state.database = nil
            state.problem = damage
            guard state.lastSetAside.map({ now - $0 >= Self.pause }) ?? true else { return false }
            return true
        }
        guard mayReplace else { throw damage }
        let kept = path + ".damaged-" + Self.stamp()
        for ending in ["", "-wal", "-shm"] {
            guard rename(path + ending, kept + ending) == 0 || errno == ENOENT && !ending.isEmpty else { throw damage }
        }
        state.withLock { $0.lastSetAside = now }
        try open()
        return SetAsideFile(damage: damage, kept: kept)
    }

    /// Closes the file, which was moved or removed.
    func leave() {
        state.withLock { state in
            state.database = nil
            state.problem = HeraldDatabaseError(path: path, problem: .gone)
        }
    }

    /// False if the open file was removed, renamed or replaced; true where its folder is closed to this process.
    var isInPlace: Bool {
        state.withLock { $0.database == nil || FileIdentity.standing(of: $0.identity, at: path) != .gone }
    }

    /// The damage of the ledger, if an error of its use shows one.
    func damage(shownBy error: any Error) -> HeraldDatabaseError? {
        HeraldDatabase.damage(shownBy: error, path: path)
    }

    func close() throws { try state.withLock { try $0.database?.close() } }

    /// `20261127T143000Z`.
    private static func stamp() -> String {
        var (time, parts) = (time_t(ClockStepDetector.wall() / 1_000_000), tm())
        gmtime_r(&time, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))T"
            + "\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))Z"
    }
}

/// A damaged database that was renamed.
package struct SetAsideFile: Hashable, Sendable {
    package let damage: HeraldDatabaseError
    /// Its present path.
    package let kept: String
}

/// Identifies the file behind a path or a descriptor.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt
    private let number: UInt

    /// Nil for no file.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Nil for a closed descriptor.
    package init?(_ descriptor: CInt) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The state of a file that was open under a path.
    package enum Standing: Hashable, Sendable {
        case inPlace
        /// Removed, renamed or replaced.
        case gone
        /// The system does not let this process look: the error number.
        case closed(CInt)
    }

    /// Compares the file of a path with a known one.
    package static func standing(of known: FileIdentity?, at path: String) -> Standing {
        if let present = FileIdentity(path) { return present == known ? .inPlace : .gone }
        let code = errno
        return code == ENOENT || code == ENOTDIR ? .gone : .closed(code)
    }

    private init(_ status: stat) { (device, number) = (UInt(status.st_dev), UInt(status.st_ino)) }
}
