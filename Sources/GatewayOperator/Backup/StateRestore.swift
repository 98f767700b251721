// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Foundation
import GatewayStore
import Glibc
import Host
import Primitives

/// `herald restore`: puts the files of a backup into the state folder of a stopped gateway.
///
/// Everything is checked before the first change. The replaced files are kept in a folder beside them. The ring of the last
/// second stays: the gateway reads again what the restored ledger has not stored.
package struct StateRestore {
    private let state: String
    /// Seconds since 1970.
    private let now: Int64

    /// - Parameter configuration: names the state folder.
    package init(_ configuration: HeraldConfiguration) {
        self.init(state: configuration.state, now: Int64(Date().timeIntervalSince1970))
    }

    init(state: String, now: Int64) { (self.state, self.now) = (state, now) }

    /// The result of a restore.
    struct Result: Hashable, Sendable, Codable {
        var restored: [String]
        /// The folder of the replaced files; nil if there were none.
        var replaced: String?
        /// The time of the backup, in seconds since 1970.
        var at: Int64
    }

    /// Restores, or only checks, and writes the result to standard output.
    ///
    /// - Parameter checksOnly: true for a command that changes nothing.
    /// - Throws: `CommandFailure` with the reason.
    package func run(from folder: String, checksOnly: Bool, asJSON: Bool) throws {
        if checksOnly {
            let manifest = try CommandFailure.reported { try checked(folder).manifest }
            if asJSON { return try Output.write(json: manifest) }
            let backup = "\(TerminalText.visible(folder)) of \(OperatorTime.text(manifest.at))"
            return Output.write("\(backup) can be restored: \(manifest.files.count) files\n")
        }
        let result = try CommandFailure.reported { try run(from: folder) }
        if asJSON { return try Output.write(json: result) }
        let kept = result.replaced.map { "the replaced files are in \(TerminalText.visible($0))\n" } ?? ""
        Output.write(
            "\(result.restored.count) files of \(OperatorTime.text(result.at)) restored; start herald\n" + kept)
    }

    /// Restores a backup.
    ///
    /// - Throws: `BackupProblem`, and the errors of a database. Before the first change nothing is touched.
    func run(from folder: String) throws -> Result {
        let (manifest, files) = try checked(folder)
        let lock = try StateLock(state)
        defer { lock.release() }
        let owner = try StateOwner(state)
        // A lock of root would keep the gateway from its own.
        try owner.take(state + "/lock", mode: 0o640)
        var drafts: [String] = []
        defer { for draft in drafts { unlink(draft) } }
        for (file, entry) in zip(files, manifest.files) {
            drafts.append(try draft(file, entry, from: folder, owner))
        }
        let kept = unusedFolder()
        var hasKept = false
        for (file, draft) in zip(files, drafts) { try put(draft, at: file, keepingIn: kept, owner, &hasKept) }
        return Result(restored: files.map(\.path), replaced: hasKept ? kept : nil, at: manifest.at)
    }

    /// Checks a backup as a whole: manifest, names, checksums and versions.
    private func checked(_ folder: String) throws -> (manifest: BackupManifest, files: [StateFile]) {
        let manifest = try BackupManifest(ofBackup: folder)
        var files: [StateFile] = []
        for entry in manifest.files {
            guard let file = StateFile(entry.path), !files.contains(where: { $0.path == file.path }) else {
                throw BackupProblem(
                    "\(folder)/\(BackupManifest.name) names \(entry.path), which is no file of a gateway")
            }
            guard try BackupManifest.entry(entry.path, in: folder) == entry else {
                throw BackupProblem(
                    "\(folder)/\(entry.path) is damaged: it does not fit its checksum; take another backup")
            }
            try file.database?.check(copyAt: folder + "/" + entry.path)
            files.append(file)
        }
        guard files.contains(where: { $0.database == .ledger }) else {
            throw BackupProblem("\(folder) has no \(StateDatabase.ledger.rawValue); take another backup")
        }
        return (manifest, files)
    }

    /// Copies a file beside its place, and checks the copy.
    private func draft(
        _ file: StateFile, _ entry: BackupManifest.Entry, from folder: String, _ owner: StateOwner
    ) throws -> String {
        let target = state + "/" + file.path
        try owner.makeFolders(above: file.path, in: state)
        let draft = target + ".restored"
        unlink(draft)
        do {
            try FileManager.default.copyItem(atPath: folder + "/" + file.path, toPath: draft)
            try owner.take(draft, mode: file.path.hasSuffix("secret") ? 0o600 : 0o640)
        } catch {
            unlink(draft)
            throw error as? BackupProblem
                ?? BackupProblem("\(draft) cannot be written: \(SystemError.text(error) ?? "\(error)")")
        }
        let copied = try BackupManifest.entry(file.path + ".restored", in: state)
        guard (copied.bytes, copied.sha256) == (entry.bytes, entry.sha256) else {
            unlink(draft)
            throw BackupProblem("\(folder)/\(file.path) changed while it was restored; nothing was changed")
        }
        return draft
    }

    /// Keeps the present file with its companions, and puts the draft in its place.
    ///
    /// A link keeps the present file, so that its place is never empty. A restore that was killed is repeated.
    /// After an error the file has its companions again: a ledger without its log lacks calls.
    func put(
        _ draft: String, at file: StateFile, keepingIn kept: String, _ owner: StateOwner, _ hasKept: inout Bool
    ) throws {
        let target = state + "/" + file.path
        let present = [file.path] + file.companions
        var moved: [String] = []
        func takeBack() { for path in moved { rename(kept + "/" + path, state + "/" + path) } }
        for path in present where FileManager.default.fileExists(atPath: state + "/" + path) {
            if !hasKept { try owner.makeFolder(kept) }
            hasKept = true
            try owner.makeFolders(above: path, in: kept)
            let (from, to) = (state + "/" + path, kept + "/" + path)
            guard (path == file.path ? link(from, to) : rename(from, to)) == 0 else {
                let problem = BackupProblem("\(from) cannot be kept in \(kept): \(SystemError.text(errno))")
                takeBack()
                throw problem
            }
            if path != file.path { moved.append(path) }
        }
        guard rename(draft, target) == 0 else {
            let problem = BackupProblem("\(target) cannot be replaced: \(SystemError.text(errno))")
            takeBack()
            throw problem
        }
        owner.sync((target as NSString).deletingLastPathComponent)
    }

    /// A folder for the replaced files with the time in its name: `replaced-20260131T120000Z`.
    private func unusedFolder() -> String {
        let folder = state + "/replaced-" + OperatorTime.utc(now).filter { $0 != "-" && $0 != ":" }
        guard FileManager.default.fileExists(atPath: folder) else { return folder }
        let next = (2...).first { !FileManager.default.fileExists(atPath: "\(folder)-\($0)") } ?? 2
        return "\(folder)-\(next)"
    }
}
