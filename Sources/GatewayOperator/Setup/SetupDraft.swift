// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
import Primitives

/// A new file of the setup: a draft beside it at first, which gets its name with its content.
///
/// A file that is there never changes. Without `commit` the draft is removed with the last reference.
struct SetupDraft {
    private let file: FileReplacement

    /// Creates the draft, readable for the group of its folder: that of the gateway's user, as the packages set it.
    ///
    /// - Throws: where the folder cannot be written, and where the path or the draft's name is taken.
    init(of path: String) throws(CommandFailure) {
        file = try Self.opened(path)
    }

    // Not inlined, as the optimiser of Swift 6.3 ends with a signal where an asynchronous function has these calls.

    @inline(never)
    private static func opened(_ path: String) throws(CommandFailure) -> FileReplacement {
        do throws(FileReplacementError) {
            // Also a link without a target: the commit would fail, after a key was made for it.
            guard attributes(of: path) == nil else { throw FileReplacementError(path: path, code: EEXIST) }
            let file = try FileReplacement(of: path, replacesDraft: false)
            if let group = group(ofFolderOf: path) { try file.share(withGroup: group) }
            return file
        } catch {
            throw CommandFailure(TerminalText.visible("\(error)"))
        }
    }

    private static func group(ofFolderOf path: String) -> UInt32? {
        let folder = ((path as NSString).deletingLastPathComponent as NSString).resolvingSymlinksInPath
        return (attributes(of: folder.isEmpty ? "." : folder)?[.groupOwnerAccountID] as? NSNumber)?.uint32Value
    }

    /// The attributes of a file or of a link itself; nil where neither is there.
    private static func attributes(of path: String) -> [FileAttributeKey: Any]? {
        try? FileManager.default.attributesOfItem(atPath: path)
    }

    /// Writes the text, and gives the draft its name.
    @inline(never)
    func commit(_ text: String) throws(CommandFailure) {
        do throws(FileReplacementError) {
            try file.write(Array(text.utf8))
            try file.commit(replaces: false)
        } catch {
            throw CommandFailure(TerminalText.visible("\(error)"))
        }
    }
}
