// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Primitives

/// Replaces files of a state folder by their drafts, all of them or none.
///
/// A second name keeps each present file before the first one is replaced. From the plan, this program or the next one puts
/// everything back. Each step back may be repeated.
struct StateSwap {
    let state: String
    let plan: RestorePlan
    let changes: StateChanges

    /// The swap of an interrupted restore.
    init(_ plan: RestorePlan, in state: String, _ changes: StateChanges) {
        (self.plan, self.state, self.changes) = (plan, state, changes)
    }

    /// The swap of files whose drafts are in place.
    ///
    /// - Parameter kept: the name of a new folder for the replaced files.
    init(of files: [StateFile], in state: String, keptIn kept: String, _ changes: StateChanges) {
        let entries = files.map { file in
            RestorePlan.Entry(
                path: file.path, draft: StateChanges.number(of: Self.draft(of: file.path, in: state)) ?? 0,
                present: ([file.path] + file.companions).filter { StateChanges.number(of: state + "/" + $0) != nil })
        }
        self.init(RestorePlan(kept: kept, files: entries), in: state, changes)
    }

    /// The place of the new content of a file.
    static func draft(of path: String, in state: String) -> String { "\(state)/\(RestorePlan.folder)/\(path)" }

    /// The folder of the replaced files; nil if there are none.
    var kept: String? { plan.files.allSatisfy(\.present.isEmpty) ? nil : state + "/" + plan.kept }

    /// Keeps the present files and puts the drafts in their places.
    ///
    /// - Throws: `BackupProblem`; the caller takes the swap back.
    func run(_ owner: StateOwner) throws {
        try write(owner)
        try keep(owner)
        for entry in plan.files {
            try owner.makeFolders(above: entry.path, in: state)
            // A log of the earlier content must not get into the new one.
            for path in entry.present where path != entry.path { try changes.remove(state + "/" + path) }
            try changes.rename(Self.draft(of: entry.path, in: state), to: state + "/" + entry.path)
        }
        syncFolders()
        try end()
    }

    /// Writes the plan, for the gateway's user too.
    private func write(_ owner: StateOwner) throws {
        let path = state + "/" + RestorePlan.path
        let draft = path + ".draft"
        try changes.allow(draft)
        do {
            try PrivateFile.write(Array(JSONEncoder().encode(plan)), to: draft)
        } catch let error as FileReplacementError {
            throw BackupProblem("\(draft) cannot be written: \(error.reason)")
        }
        try owner.take(draft, mode: 0o640)
        try changes.rename(draft, to: path)
        StateChanges.sync(state + "/" + RestorePlan.folder)
        StateChanges.sync(state)
    }

    private func keep(_ owner: StateOwner) throws(BackupProblem) {
        guard let kept else { return }
        try changes.allow(kept)
        try owner.makeFolder(kept)
        for path in plan.files.flatMap(\.present) {
            try owner.makeFolders(above: path, in: kept)
            try changes.link(state + "/" + path, to: kept + "/" + path)
        }
        for folder in Self.folders(plan.files.flatMap(\.present)) { StateChanges.sync(kept + "/" + folder) }
        StateChanges.sync(state)
    }

    /// Puts all files back that were replaced, and removes the second names of the others.
    ///
    /// - Returns: the count of files that had been replaced.
    /// - Throws: `BackupProblem`; the plan stays, and the next program takes the rest back.
    func takeBack() throws(BackupProblem) -> Int {
        var count = 0
        for entry in plan.files.reversed() {
            let isReplaced = StateChanges.number(of: state + "/" + entry.path) == entry.draft
            if isReplaced {
                count += 1
                // A reader may have made a log for the new content.
                for path in StateFile(entry.path)?.companions ?? [] where !entry.present.contains(path) {
                    try changes.remove(state + "/" + path)
                }
            }
            if try !putBack(entry.path), isReplaced { try changes.remove(state + "/" + entry.path) }
            for path in entry.present where path != entry.path { _ = try putBack(path) }
        }
        removeEmptyFolders()
        syncFolders()
        try end()
        return count
    }

    /// Puts a kept file back; false without one.
    private func putBack(_ path: String) throws(BackupProblem) -> Bool {
        let (from, to) = ("\(state)/\(plan.kept)/\(path)", state + "/" + path)
        guard let number = StateChanges.number(of: from) else { return false }
        // To rename one name of a file to another does nothing (rename(2)).
        if number == StateChanges.number(of: to) {
            try changes.remove(from)
        } else {
            try changes.rename(from, to: to)
        }
        return true
    }

    /// Removes the folders that the swap has made; one that is not empty stays.
    private func removeEmptyFolders() {
        let paths = plan.files.map(\.path)
        for folder in Self.folders(paths).reversed() { rmdir("\(state)/\(plan.kept)/\(folder)") }
        let added = plan.files.filter(\.present.isEmpty).map(\.path)
        for folder in Self.folders(added).reversed() where !folder.isEmpty { rmdir(state + "/" + folder) }
    }

    private func syncFolders() {
        for folder in Self.folders(plan.files.map(\.path)) { StateChanges.sync(state + "/" + folder) }
    }

    /// The folders of some paths, each after the one that it is in; the first is empty.
    private static func folders(_ paths: [String]) -> [String] {
        var all: Set = [""]
        for path in paths {
            var folder = (path as NSString).deletingLastPathComponent
            while !folder.isEmpty, all.insert(folder).inserted {
                folder = (folder as NSString).deletingLastPathComponent
            }
        }
        return all.sorted()
    }

    /// Removes the plan: the state is as a whole the old or the new one.
    private func end() throws(BackupProblem) {
        try changes.remove(state + "/" + RestorePlan.path)
        StateChanges.sync(state + "/" + RestorePlan.folder)
        Self.removeDrafts(in: state)
    }

    /// Removes drafts without a plan.
    static func removeDrafts(in state: String) {
        try? FileManager.default.removeItem(atPath: state + "/" + RestorePlan.folder)
    }
}
