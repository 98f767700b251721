// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Host
import Primitives

/// The files that let an import into SQLite go on after a kill, a full disk or a power cut.
///
/// The rows of an import are in `import-ID.rows`, a database of its own. `import-ID.merge` beside it exists once the
/// rows are complete and their merge has begun. From then on the import is finished, by the next program if need be. A program that
/// works on the rows holds a lock on them (flock), which ends with the program.
struct ImportJournal {
    /// The content of `import-ID.merge`.
    struct Merge: Codable, Hashable {
        let account: Int64
        let replaces: Bool
    }

    /// The database of the rows.
    let rows: String
    private let lock: FileLock

    private static let prefix = "import-"
    private static let ending = ".rows"

    /// Creates an empty journal in the state folder.
    ///
    /// - Throws: `FileReplacementError`.
    init(in folder: String) throws {
        rows = "\(folder)/\(Self.prefix)\(UUID().uuidString)\(Self.ending)"
        close(try PrivateFile.create(rows))
        StateOwner.adopt(rows, in: folder)
        guard let lock = FileLock.take(rows, creates: false) else {
            throw FileReplacementError(path: rows, code: errno)
        }
        self.lock = lock
    }

    /// Takes over the journal of a program that has ended; nil while one works on it.
    private init?(leftBehind rows: String) {
        guard let lock = FileLock.take(rows, creates: false) else { return nil }
        (self.rows, self.lock) = (rows, lock)
    }

    private var mark: String { String(rows.dropLast(Self.ending.count)) + ".merge" }

    /// Declares the rows complete and their merge begun; durable on return.
    func begin(_ merge: Merge, in folder: String) throws {
        let file = open(rows, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw FileReplacementError(path: rows, code: errno) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw FileReplacementError(path: rows, code: errno) }
        try PrivateFile.write([UInt8](JSONEncoder().encode(merge)), to: mark)
        StateOwner.adopt(mark, in: folder)
    }

    /// The merge that has begun; nil before `begin`.
    var merge: Merge? {
        FileManager.default.contents(atPath: mark).flatMap { try? JSONDecoder().decode(Merge.self, from: $0) }
    }

    /// Removes the files: the merge is complete, or has not begun.
    func remove() {
        // A mark without rows means nothing, rows without a mark are removed.
        unlink(mark)
        unlink(rows)
    }

    /// Removes the rows unless their merge has begun.
    func removeUnlessBegun() { if !Self.exists(mark) { remove() } }

    /// The journals of programs that have ended, the oldest first; rows without a merge are removed.
    static func leftBehind(in folder: String) -> [ImportJournal] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let paths = names.filter(owns).map { folder + "/" + $0 }
        return paths.map { (written($0), $0) }.sorted(by: <).compactMap { time, path in
            guard let journal = ImportJournal(leftBehind: path) else { return nil }
            if exists(journal.mark) { return journal }
            // A program that has just created its rows has not locked them yet.
            if time < Int(Date().timeIntervalSince1970) - 60 { journal.remove() }
            return nil
        }
    }

    /// True for the name of a file with rows.
    static func owns(_ name: String) -> Bool { name.hasPrefix(prefix) && name.hasSuffix(ending) }

    /// True for the name of any file of a journal, with those that SQLite makes beside the rows.
    static func ownsAny(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.contains(ending) || isMark(name)
    }

    /// True for the name of a file that declares a merge begun, and of its draft.
    static func isMark(_ name: String) -> Bool { name.hasPrefix(prefix) && name.contains(".merge") }

    private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Seconds since 1970.
    private static func written(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_mtim.tv_sec) : .max
    }
}

/// An exclusive lock on a file, held as long as this value lives (flock(2)).
final class FileLock {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Takes the lock; nil while another program or another part of this one holds it, with the reason in `errno`.
    static func take(_ path: String, creates: Bool) -> FileLock? {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | (creates ? O_CREAT : 0), 0o640)
        guard descriptor >= 0 else { return nil }
        let lock = FileLock(descriptor)
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? lock : nil
    }
}
