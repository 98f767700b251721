// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
package import GRDB
import GRDBSQLite
import Host
import Synchronization

/// The gateway's two SQLite files in its state folder, opened and migrated.
///
/// `herald.sqlite` holds calls and events, `brands.sqlite` the directory's records. SQLite has one writer per file, and
/// a full sync of a million records must not delay the recorder for seconds. Both are in WAL mode, so readers never wait
/// for the writer. Safe from any thread; never used on the call path.
package final class HeraldDatabase: Sendable {
    /// Calls, events and the position in the ring.
    package let ledgerFile: LedgerFile
    /// Brand records and sync state; the next sync repeats one that a power cut has undone.
    package let brands: any DatabaseWriter
    /// The folder of both files.
    let folder: String
    /// Path of the brand records; another folder while this one cannot be written.
    let brandsFolder: String
    /// Whether the ledger records its changes for a shared one; nil to leave that as it is.
    private let sharesLedger: Bool?
    /// Problems of the files at this start and their treatment, for the operator.
    package let notices: [Notice]

    /// The treatment of a file that the gateway cannot use at its start.
    package enum Notice: Hashable, Sendable {
        /// Brand records were renamed and begun anew.
        case brandsSetAside(SetAsideFile)
        /// Brand records are in another place until the next start; nil for memory.
        case brandsElsewhere(HeraldDatabaseError, place: String?)
        /// Brand records are read from their file, and no sync changes them before the next start.
        case brandsReadOnly(HeraldDatabaseError)
        /// A damaged ledger was renamed and begun anew.
        case ledgerSetAside(SetAsideFile)
    }

    /// Calls and events; every commit is on the disk before it returns.
    ///
    /// - Throws: the reason why there is no ledger.
    package var ledger: any DatabaseWriter { get throws(HeraldDatabaseError) { try ledgerFile.database } }

    /// Opens or creates both files below `folder` and applies missing migrations.
    ///
    /// - Parameter sharesLedger: whether the ledger records its changes for a shared one; nil to leave that as it is.
    /// - Throws: `HeraldDatabaseError` with file and remedy.
    package init(folder: String, sharesLedger: Bool? = nil) throws(HeraldDatabaseError) {
        self.folder = folder
        self.sharesLedger = sharesLedger
        brandsFolder = folder
        notices = []
        try Self.makeFolder(folder)
        ledgerFile = LedgerFile(folder: folder, isShared: sharesLedger)
        try ledgerFile.open()
        brands = try BrandDatabase.open(Self.brandsPath(in: folder))
    }

    /// Opens the files of a starting gateway; a damaged, foreign or read-only file or folder never ends the start.
    ///
    /// Without a ledger the recorder waits for one. Brand records that cannot be opened are renamed and begun anew, or
    /// kept in `spare` until the next start. The directory has them, and no call may wait for an operator.
    /// - Parameters:
    ///   - spare: another folder, best in memory.
    ///   - sharesLedger: whether the gateway has a shared ledger: then the file records its changes from its opening on.
    package convenience init(ofGateway folder: String, spare: String, sharesLedger: Bool = false) {
        self.init(ofGateway: folder, spare: spare, sharesLedger: sharesLedger, replacing: nil)
    }

    private init(ofGateway folder: String, spare: String, sharesLedger: Bool?, replacing damage: HeraldDatabaseError?) {
        self.folder = folder
        self.sharesLedger = sharesLedger
        try? Self.makeFolder(folder)
        let ledgerFile = LedgerFile(folder: folder, isShared: sharesLedger)
        self.ledgerFile = ledgerFile
        // Both at once, because after a crash SQLite reads each write-ahead log.
        let opened = Mutex<SetAsideFile?>(nil)
        let opening = DispatchGroup()
        DispatchQueue.global().async(group: opening) {
            let replaced = try? ledgerFile.openOrReplace()
            opened.withLock { $0 = replaced }
        }
        let place = BrandDatabase(folder: folder, spare: spare, replacing: damage)
        (brands, brandsFolder) = (place.database, place.folder)
        opening.wait()
        notices = place.notices + opened.withLock { $0.map { [Notice.ledgerSetAside($0)] } ?? [] }
    }

    /// The damage of the brand records, if an error of reading them shows one.
    package func damage(shownBy error: any Error) -> HeraldDatabaseError? {
        Self.damage(shownBy: error, path: Self.brandsPath(in: brandsFolder))
    }

    /// Opens both files again with new brand records, because the present ones are damaged inside.
    package func withoutBrands(because error: HeraldDatabaseError, spare: String) -> HeraldDatabase {
        try? close()
        return HeraldDatabase(ofGateway: folder, spare: spare, sharesLedger: sharesLedger, replacing: error)
    }

    static func makeFolder(_ folder: String) throws(HeraldDatabaseError) {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw HeraldDatabaseError(path: folder, problem: .folder(reason(error)))
        }
    }

    static func damage(shownBy error: any Error, path: String) -> HeraldDatabaseError? {
        if let error = error as? HeraldDatabaseError, case .damaged = error.problem { return error }
        guard let error = error as? DatabaseError, isDamage(error) else { return nil }
        return HeraldDatabaseError(path: path, problem: .damaged(reason(error)))
    }

    private static func isDamage(_ error: DatabaseError) -> Bool {
        [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode)
    }

    /// Opens the ledger of a gateway, running or not, for reading only: the operator's commands.
    ///
    /// - Throws: `HeraldDatabaseError` if there is no ledger yet, or it is older or newer than this program.
    package static func ledgerReader(folder: String) throws(HeraldDatabaseError) -> any DatabaseReader {
        try reader(path: ledgerPath(in: folder), Migrations.ledger)
    }

    /// Opens a ledger by its path for reading only: a backup, or a file that was set aside.
    ///
    /// - Throws: `HeraldDatabaseError` if there is none, or it is damaged, older or newer than this program.
    package static func ledgerReader(file: String) throws(HeraldDatabaseError) -> any DatabaseReader {
        try reader(path: file, Migrations.ledger)
    }

    /// Opens the brand records of a gateway, running or not, for reading only.
    ///
    /// - Throws: `HeraldDatabaseError` if there are none yet, or they are older or newer than this program.
    package static func brandsReader(folder: String) throws(HeraldDatabaseError) -> any DatabaseReader {
        try reader(path: brandsPath(in: folder), Migrations.brands)
    }

    /// Opens the signers of a gateway, running or not, for reading only.
    ///
    /// - Throws: `HeraldDatabaseError` if there are none yet, or they are older or newer than this program.
    static func signersReader(folder: String) throws(HeraldDatabaseError) -> any DatabaseReader {
        // Each page is read once, and the connection of a gateway stays open.
        try reader(path: signersPath(in: folder), Migrations.signers, cacheSize: 256)
    }

    /// Closes both files; later use of either throws.
    package func close() throws {
        try ledgerFile.close()
        try brands.close()
    }

    package static func ledgerPath(in folder: String) -> String { folder + "/herald.sqlite" }
    package static func brandsPath(in folder: String) -> String { folder + "/brands.sqlite" }
    package static func signersPath(in folder: String) -> String { folder + "/signers.sqlite" }
    /// The file in which the records of a sync wait; removed after it.
    package static func incomingPath(in folder: String) -> String { folder + "/incoming.sqlite" }

    /// - Parameters:
    ///   - mayBeReadOnly: whether a file that can only be read serves; its writes fail.
    ///   - prepare: the last step of the opening.
    static func pool(
        path: String, durability: String, migrations: Migrations, mayBeReadOnly: Bool = false,
        prepare: (any DatabaseWriter) throws -> Void = { _ in }
    ) throws(HeraldDatabaseError) -> DatabasePool {
        do {
            var configuration = Self.configuration(label: path)
            configuration.prepareDatabase { database in
                // 16 MB of pages: rows of calls in progress are written several times and checkpointed once.
                try database.execute(sql: "PRAGMA wal_autocheckpoint = 4000")
            }
            let pool = try DatabasePool(path: path, configuration: configuration)
            try check(pool, migrations, path: path)
            try checkWritable(pool, path: path, mayBeReadOnly)
            try migrations.migrate(pool)
            // After opening, because GRDB sets NORMAL then, which may lose reported commits.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(durability)") }
            try prepare(pool)
            return pool
        } catch let error as HeraldDatabaseError {
            throw error
        } catch is Migrations.BeforeFirstVersion {
            throw HeraldDatabaseError(path: path, problem: .tooOld)
        } catch let error as DatabaseError where isDamage(error) {
            throw HeraldDatabaseError(path: path, problem: .damaged(Self.reason(error)))
        } catch let error as DatabaseError where [.SQLITE_FULL, .SQLITE_READONLY].contains(error.resultCode) {
            throw HeraldDatabaseError(refusal: error, path: path)
                ?? HeraldDatabaseError(path: path, problem: .open(Self.reason(error)))
        } catch {
            throw HeraldDatabaseError(
                path: path, problem: refusal(to: path).map { .unwritable($0) } ?? .open(Self.reason(error)))
        }
    }

    /// Refuses a file that SQLite has opened for reading only.
    ///
    /// SQLite does that without an error. Each write would fail, also after the disk is writable again. A transaction that
    /// begins IMMEDIATE shows a read-only `-shm` file, and not a read-only database.
    private static func checkWritable(_ pool: DatabasePool, path: String, _ mayBeReadOnly: Bool) throws {
        let isReadOnly = try pool.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) { .rollback }
            return sqlite3_db_readonly(database.sqliteConnection, "main") == 1
        }
        guard isReadOnly, !mayBeReadOnly else { return }
        throw HeraldDatabaseError(
            path: path, problem: .unwritable(refusal(to: path) ?? "it was opened for reading only"))
    }

    /// The reason why this process may not write a file or its folder; nil if it may, and without the file.
    static func refusal(to path: String) -> String? {
        for place in [path, (path as NSString).deletingLastPathComponent]
        where faccessat(AT_FDCWD, place, W_OK, AT_EACCESS) != 0 {
            let code = errno
            if [EROFS, EACCES, EPERM].contains(code) { return SystemError.text(code) }
        }
        return nil
    }

    /// Opens a file for reading only: that of a gateway, or a copy.
    ///
    /// - Parameter cacheSize: kB of pages that the connection keeps; nil for those that SQLite keeps by itself, 2 MB.
    /// - Throws: `HeraldDatabaseError` if there is none, or it is damaged, older or newer than this program.
    static func reader(
        path: String, _ migrations: Migrations, cacheSize: Int? = nil
    ) throws(HeraldDatabaseError) -> any DatabaseReader {
        guard access(path, R_OK) == 0 else {
            let code = errno
            throw HeraldDatabaseError(
                path: path, problem: code == ENOENT ? .missing : .forbidden(SystemError.text(code)))
        }
        do {
            var configuration = Self.configuration(label: path)
            configuration.readonly = true
            if let cacheSize {
                configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -\(cacheSize)") }
            }
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try check(queue, migrations, path: path)
            guard try queue.read({ try migrations.migrator.hasCompletedMigrations($0) }) else {
                throw HeraldDatabaseError(path: path, problem: .older)
            }
            return queue
        } catch let error as HeraldDatabaseError {
            throw error
        } catch let error as DatabaseError where isDamage(error) {
            throw HeraldDatabaseError(path: path, problem: .damaged(reason(error)))
        } catch {
            throw HeraldDatabaseError(path: path, problem: .open(Self.reason(error)))
        }
    }

    /// The error without the failed statement, which does not help an operator.
    private static func reason(_ error: any Error) -> String {
        (error as? DatabaseError)?.message ?? SystemError.text(error) ?? "\(error)"
    }

    private static func configuration(label: String) -> Configuration {
        var configuration = Configuration()
        configuration.qos = .default  // the package's own asks for a niceness below 0
        configuration.label = label
        configuration.busyMode = .timeout(5)  // seconds; an operator's command beside the running gateway
        configuration.maximumReaderCount = 4
        return configuration
    }

    private static func check(_ reader: any DatabaseReader, _ migrations: Migrations, path: String) throws {
        guard try !reader.read({ try migrations.migrator.hasBeenSuperseded($0) }) else {
            throw HeraldDatabaseError(path: path, problem: .newer)
        }
    }
}

/// The reason why a database could not be opened, with path and remedy.
package struct HeraldDatabaseError: Error, Hashable, CustomStringConvertible {
    package enum Problem: Hashable, Sendable {
        case folder(String)
        case open(String)
        case damaged(String)
        case missing
        /// The operator's command runs as a user without access.
        case forbidden(String)
        case older
        case newer
        /// A version before 0.2.0 wrote it.
        case tooOld

        /// The file was removed or replaced.
        case gone
        /// The disk is full.
        case full
        /// The system refuses to write: a read-only file system, or another owner.
        case unwritable(String)

        /// True if the file is readable and its content is not.
        var isOfContent: Bool {
            switch self {
            case .damaged, .newer, .tooOld: true
            case .folder, .open, .missing, .forbidden, .older, .gone, .full, .unwritable: false
            }
        }
    }

    package let path: String
    package let problem: Problem

    package var description: String {
        switch problem {
        case .folder(let reason):
            "cannot create the state folder \(path): \(reason); create it, owned by the user herald runs as"
        case .open(let reason):
            "cannot open \(path): \(reason); check the owner and the free space, or move the file away to start anew"
        case .damaged(let reason):
            "\(path) is damaged: \(reason); restore it from a backup, or move the file away to start anew"
        case .missing: "there is no \(path) yet; start herald once with this state folder"
        case .forbidden(let reason):
            "\(path) cannot be read: \(reason); run the command as the user herald runs as, or as root"
        case .older: "\(path) was written by an older herald; start this herald once to bring it up to date"
        case .newer:
            """
            \(path) was written by a newer herald; install that version again, or move the file away to begin a new one
            """
        case .tooOld:
            """
            \(path) was written by a herald before 0.2.0; start version 0.2.0 with it once, or move the file away to begin a new \
            one
            """
        case .full: "the disk of \(path) is full; free space on it"
        case .unwritable(let reason):
            "\(path) cannot be written: \(reason); mount its disk for writing, and give file and folder to the user herald runs as"
        case .gone: "\(path) was removed or replaced while herald runs; put its folder back, writable for herald"
        }
    }
}
