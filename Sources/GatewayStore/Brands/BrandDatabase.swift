// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// The brand records of a starting gateway: from the state folder, else from a writable place.
///
/// A copy in the spare folder replaces records that cannot be opened, so that branding and syncs go on. The next start
/// that can use the state folder removes it.
struct BrandDatabase {
    let database: any DatabaseWriter
    /// The place of the records.
    let folder: String
    private(set) var notices: [HeraldDatabase.Notice] = []

    static func open(_ path: String) throws(HeraldDatabaseError) -> any DatabaseWriter {
        try HeraldDatabase.pool(path: path, durability: "NORMAL", migrations: Migrations.brands)
    }

    /// - Parameter damage: known damage inside records that open well.
    init(folder: String, spare: String, replacing damage: HeraldDatabaseError?) {
        let path = HeraldDatabase.brandsPath(in: folder)
        let spareFile = HeraldDatabase.brandsPath(in: spare)
        var problem = damage
        if let damage, damage.path == spareFile, spare != folder { Self.remove(spareFile) }
        do throws(HeraldDatabaseError) {
            if let damage, damage.path == path { throw damage }
            database = try Self.open(path)
            self.folder = folder
            if spare != folder { Self.remove(spareFile) }
            return
        } catch {
            problem = error
            if error.problem.isOfContent, let kept = Self.setAside(path), let anew = try? Self.open(path) {
                (database, self.folder) = (anew, folder)
                notices = [.brandsSetAside(SetAsideFile(damage: error, kept: kept))]
                return
            }
        }
        let reason = problem ?? HeraldDatabaseError(path: path, problem: .missing)
        if let copy = Self.spare(at: spareFile, of: path, isDamaged: reason.problem.isOfContent) {
            (database, self.folder) = (copy, spare)
            notices = [.brandsElsewhere(reason, place: spare)]
            return
        }
        // Stored brands serve calls, also where no sync can be written.
        if !reason.problem.isOfContent,
            let kept = try? HeraldDatabase.pool(
                path: path, durability: "NORMAL", migrations: Migrations.brands, mayBeReadOnly: true)
        {
            (database, self.folder) = (kept, folder)
            notices = [.brandsReadOnly(reason)]
            return
        }
        database = Self.inMemory()
        self.folder = FileManager.default.temporaryDirectory.path
        notices = [.brandsElsewhere(reason, place: nil)]
    }

    /// Renames a database and its side files over an earlier set-aside one; nil on failure.
    private static func setAside(_ path: String) -> String? {
        let kept = path + ".aside"
        for ending in ["", "-wal", "-shm"] {
            unlink(kept + ending)
            guard rename(path + ending, kept + ending) == 0 || errno == ENOENT else { return nil }
        }
        return kept
    }

    /// The copy of an earlier start, else a copy of the present records, else an empty one; nil without space.
    private static func spare(at spare: String, of path: String, isDamaged: Bool) -> (any DatabaseWriter)? {
        guard spare != path else { return nil }
        if FileManager.default.fileExists(atPath: spare), let earlier = try? open(spare) { return earlier }
        remove(spare)
        if !isDamaged, hasSpace(for: path, beside: spare) {
            for ending in ["", "-wal"] {
                try? FileManager.default.copyItem(atPath: path + ending, toPath: spare + ending)
            }
            if let copy = try? open(spare) { return copy }
            remove(spare)
        }
        return try? open(spare)
    }

    /// The folder may be in memory, so the copy takes at most a third of the free space.
    private static func hasSpace(for path: String, beside spare: String) -> Bool {
        let sizes = ["", "-wal"].map { ending -> UInt64 in
            var status = stat()
            return stat(path + ending, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
        }
        var space = statvfs()
        guard statvfs(URL(fileURLWithPath: spare).deletingLastPathComponent().path, &space) == 0 else { return false }
        return sizes.reduce(0, +) < UInt64(space.f_bavail) * UInt64(space.f_frsize) / 3
    }

    private static func remove(_ path: String) {
        for ending in ["", "-wal", "-shm"] { unlink(path + ending) }
    }

    /// Records in memory alone; the next start begins without records.
    private static func inMemory() -> any DatabaseWriter {
        do {
            let queue = try DatabaseQueue()
            try Migrations.brands.migrate(queue)
            return queue
        } catch {
            // A database in memory fails only without memory.
            preconditionFailure("no memory for the brand records: \(error)")
        }
    }
}
