// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import Glibc
import Host
import Primitives

/// `herald-directory restore`: puts a backup in the place of a directory's SQLite database.
///
/// The backup is copied and the copy is checked before the first change. One rename replaces the database, so a kill leaves the
/// earlier database or the restored one; a log or begun import of the earlier one may then be in the folder of the replaced
/// database, which has the time in its name.
package struct DirectoryRestore {
    private let folder: String
    /// Seconds since 1970.
    private let now: Int64

    /// - Parameters:
    ///   - folder: the state folder of a stopped server.
    ///   - now: seconds since 1970.
    package init(folder: String, now: Int64) { (self.folder, self.now) = (folder, now) }

    /// The result of a restore or a check.
    package struct Result: Hashable, Sendable, Codable {
        package let contents: RestoredContents
        /// The folder of the replaced database; nil if there was none, or after a check.
        package var replaced: String?
        /// Logos and logs that the state folder lacks and the folder of the backup has.
        package var files: Int
        /// Names of logos whose bytes are nowhere.
        package var missingLogos: [String]
        /// Count of logs of devices whose bytes are nowhere.
        package var missingLogs: Int

        package enum CodingKeys: String, CodingKey {
            case contents, replaced, files
            case missingLogos = "missing_logos"
            case missingLogs = "missing_logs"
        }
    }

    /// Checks a backup and changes nothing; also beside a running server.
    ///
    /// - Throws: `RestoreProblem`.
    package func check(_ file: String) throws -> Result {
        let backup = try BackupFile(file)
        let contents = try BackupCheck(path: backup.path).run(as: file)
        return try result(contents, of: file, in: file, writes: false)
    }

    /// Restores a backup.
    ///
    /// - Throws: `RestoreProblem`; the database is as before.
    package func run(from file: String) throws -> Result {
        let backup = try BackupFile(file)
        let use = try StateUse.alone(in: folder)
        defer { withExtendedLifetime(use) {} }
        removeDraft()
        defer { removeDraft() }
        do {
            try backup.copy(to: draft)
            let check = BackupCheck(path: draft)
            let contents = try check.run(as: file)
            let present = PresentDatabase(folder: folder)
            try check.complete(after: try present.fold(), as: file)
            try finishDraft()
            var result = try result(contents, of: file, in: draft, writes: true)
            let kept = unusedFolder()
            result.replaced = try present.replace(by: draft, keepingIn: kept) ? kept : nil
            return result
        } catch {
            let cause =
                (error as? FileReplacementError).map { "\($0.path) cannot be written: \($0.reason)" } ?? "\(error)"
            throw RestoreProblem("\(cause). The database of \(folder) is as before")
        }
    }

    /// The copy of the backup, beside its place.
    private var draft: String { folder + "/directory.sqlite.restored" }

    /// Removes a draft, also that of a killed restore.
    private func removeDraft() { for ending in ["", "-journal", "-wal", "-shm"] { unlink(draft + ending) } }

    /// Gives the draft mode and owner of a database, and waits until it is on the disk.
    private func finishDraft() throws(RestoreProblem) {
        StateOwner.adopt(draft, in: folder)
        let descriptor = open(draft, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw RestoreProblem("\(draft) cannot be written: \(SystemError.text(errno))") }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o640) == 0, fsync(descriptor) == 0 else {
            throw RestoreProblem("\(draft) cannot be written: \(SystemError.text(errno))")
        }
    }

    private func result(
        _ contents: RestoredContents, of file: String, in database: String, writes: Bool
    ) throws -> Result {
        let source = (file as NSString).deletingLastPathComponent
        let files = RestoredFiles(source: source.isEmpty ? "." : source, folder: folder)
        let outcome = try files.run(RestoredFiles.Named(database), writes: writes)
        return Result(
            contents: contents, replaced: nil, files: outcome.copied, missingLogos: outcome.missingLogos,
            missingLogs: outcome.missingUploads)
    }

    /// A folder for the replaced database, with the time: `replaced-20260131T120000Z`.
    private func unusedFolder() -> String {
        let name = folder + "/replaced-" + Timestamp.string(from: now).filter { $0 != "-" && $0 != ":" }
        func isUnused(_ path: String) -> Bool { access(path, F_OK) != 0 }
        if isUnused(name) { return name }
        let next = (2...).first { isUnused("\(name)-\($0)") } ?? 2
        return "\(name)-\(next)"
    }
}
