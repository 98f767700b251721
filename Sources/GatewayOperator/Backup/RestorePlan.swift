// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
import Primitives

/// The files that a restore replaces, `restoring/plan.json` of the state folder.
///
/// The plan is on the disk before the first change, and is removed after the last one. A plan that is there belongs to an
/// interrupted restore.
struct RestorePlan: Hashable, Sendable, Codable {
    /// The folder of the drafts and of the plan, in the state folder.
    static let folder = "restoring"
    static let path = folder + "/plan.json"
    private static let form = 1
    /// Largest plan that is read: 16 MiB, that of some ten thousand customers.
    private static let limit = 16 << 20

    private var format = form
    /// The folder of the replaced files, in the state folder.
    let kept: String
    let files: [Entry]

    /// A file and its draft.
    struct Entry: Hashable, Sendable, Codable {
        /// Relative to the state folder, as in the backup.
        let path: String
        /// The number (inode) of the draft, by which a replaced file is recognised.
        let draft: UInt64
        /// The file and its companions, as far as they were there.
        let present: [String]
    }

    init(kept: String, files: [Entry]) { (self.kept, self.files) = (kept, files) }

    /// Reads the plan of an interrupted restore; nil without one.
    ///
    /// - Throws: `BackupProblem` for a plan that cannot be read, and for one with a path that no gateway has.
    init?(in state: String) throws(BackupProblem) {
        let path = state + "/" + Self.path
        guard StateChanges.number(of: path) != nil else { return nil }
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw BackupProblem(
                "\(path) of an interrupted restore cannot be read: \(SystemError.ofReading(path)); run herald restore again "
                    + "as root")
        }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: Self.limit + 1), data.count <= Self.limit,
            let plan = try? JSONDecoder().decode(RestorePlan.self, from: data), plan.isValid
        else {
            throw BackupProblem(
                "\(path) is no plan of a restore; move the files of the latest \(state)/replaced-* back, and remove "
                    + "\(state)/\(Self.folder)")
        }
        self = plan
    }

    /// Whether no path leads out of the state folder, or to another file than those of a gateway.
    private var isValid: Bool {
        let name = Self.keptPrefix
        guard format == Self.form, kept.hasPrefix(name),
            kept.dropFirst(name.count).utf8.allSatisfy({
                [0x2D, 0x54, 0x5A].contains($0) || (0x30...0x39).contains($0)
            })
        else { return false }
        return files.allSatisfy { entry in
            guard let file = StateFile(entry.path) else { return false }
            return Set(entry.present).isSubset(of: [file.path] + file.companions)
        }
    }

    /// The beginning of the name of a folder of replaced files.
    static let keptPrefix = "replaced-"
}
