// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Foundation
import GatewayStore
import Glibc
import Host
import Primitives

/// `herald restore`: puts the files of a backup into the state folder of a stopped gateway.
///
/// Everything is checked before the first change. All files are replaced or none. The replaced files are kept in a folder
/// beside them. The ring of the last second stays: the gateway reads again what the restored ledger has not stored.
package struct StateRestore {
    private let state: String
    /// Seconds since 1970.
    private let now: Int64
    private let changes: StateChanges

    /// - Parameter configuration: names the state folder.
    package init(_ configuration: HeraldConfiguration) {
        self.init(state: configuration.state, now: Int64(Date().timeIntervalSince1970))
    }

    init(state: String, now: Int64, _ changes: StateChanges = StateChanges()) {
        (self.state, self.now, self.changes) = (state, now, changes)
    }

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
    /// - Throws: `BackupProblem`, and the errors of a database. The state is then the one before it, unless the text names
    ///   a file that could not be put back.
    func run(from folder: String) throws -> Result {
        let (manifest, files) = try checked(folder)
        let lock = try StateLock(state)
        defer { lock.release() }
        let owner = try StateOwner(state)
        // A lock of root would keep the gateway from its own.
        try owner.take(state + "/lock", mode: 0o640)
        _ = try InterruptedRestore.takeBack(in: state, changes)
        let swap = try unchanged { try prepared(files, manifest, from: folder, owner) }
        do {
            try swap.run(owner)
        } catch {
            let state = try takenBack(swap, after: error)
            throw BackupProblem("\(error); \(state)")
        }
        return Result(restored: files.map(\.path), replaced: swap.kept, at: manifest.at)
    }

    /// Copies all files beside their places.
    private func prepared(
        _ files: [StateFile], _ manifest: BackupManifest, from folder: String, _ owner: StateOwner
    ) throws -> StateSwap {
        try changes.allow(state + "/" + RestorePlan.folder)
        try owner.makeFolder(state + "/" + RestorePlan.folder)
        for (file, entry) in zip(files, manifest.files) { try writeDraft(of: file, entry, from: folder, owner) }
        return StateSwap(of: files, in: state, keptIn: unusedFolder(), changes)
    }

    /// Runs the steps before the first change, and removes what they made after an error.
    private func unchanged<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            StateSwap.removeDrafts(in: state)
            throw BackupProblem("\(error); nothing was changed")
        }
    }

    /// Takes a failed swap back.
    ///
    /// - Returns: the state of the folder, for the text of the error.
    /// - Throws: `BackupProblem` with both causes, if a file cannot be put back.
    private func takenBack(_ swap: StateSwap, after cause: any Error) throws(BackupProblem) -> String {
        guard StateChanges.number(of: state + "/" + RestorePlan.path) != nil else {
            StateSwap.removeDrafts(in: state)
            return "nothing was changed"
        }
        do {
            let count = try swap.takeBack()
            return count == 0 ? "nothing was changed" : "the \(count) files replaced so far were put back"
        } catch {
            throw BackupProblem("\(cause); \(error); \(InterruptedRestore.remedy(state))")
        }
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
    private func writeDraft(
        of file: StateFile, _ entry: BackupManifest.Entry, from folder: String, _ owner: StateOwner
    ) throws {
        let draft = StateSwap.draft(of: file.path, in: state)
        try owner.makeFolders(above: file.path, in: state + "/" + RestorePlan.folder)
        try changes.allow(draft)
        do {
            try FileManager.default.copyItem(atPath: folder + "/" + file.path, toPath: draft)
        } catch {
            throw BackupProblem("\(draft) cannot be written: \(SystemError.text(error) ?? "\(error)")")
        }
        try owner.take(draft, mode: file.path.hasSuffix("secret") ? 0o600 : 0o640)
        let copied = try BackupManifest.entry(file.path, in: state + "/" + RestorePlan.folder)
        guard copied == entry else {
            throw BackupProblem("\(folder)/\(file.path) changed while it was restored")
        }
    }

    /// The name of a folder for the replaced files, with the time: `replaced-20260131T120000Z`.
    private func unusedFolder() -> String {
        let name = RestorePlan.keptPrefix + OperatorTime.utc(now).filter { $0 != "-" && $0 != ":" }
        func isUnused(_ name: String) -> Bool { StateChanges.number(of: state + "/" + name) == nil }
        if isUnused(name) { return name }
        let next = (2...).first { isUnused("\(name)-\($0)") } ?? 2
        return "\(name)-\(next)"
    }
}
