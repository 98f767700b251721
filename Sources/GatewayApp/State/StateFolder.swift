// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import HostSystem
import SIPCore

/// The gateway's folders: made, and kept from every other gateway.
enum StateFolder {
    /// Makes the folders that are missing, and keeps every other gateway out of them.
    ///
    /// A folder that cannot be made or locked is a trouble for the operator and no reason to refuse calls.
    /// - Parameter folders: each with the key that names it; two keys may name one folder.
    /// - Throws: `CommandFailure` when another gateway has one.
    static func claim(
        _ folders: [(key: String, path: String)], telling troubles: StateTroubles
    ) throws -> [FolderClaim] {
        var claimed: Set<String> = []
        return try folders.compactMap { key, path in
            if let problem = prepare(path, key: key) {
                troubles.add(problem)
                return nil
            }
            let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            guard claimed.insert(real).inserted else { return nil }
            let claim = try FolderClaim(path, key: key)
            if let problem = claim.problem { troubles.add(problem) }
            return claim
        }
    }

    /// Makes a folder that only this user can read; one that is there stays as it is.
    private static func prepare(_ path: String, key: String) -> String? {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
            return nil
        } catch {
            let reason = SystemReason.text(error) ?? error.localizedDescription
            return "the folder \(path) cannot be made: \(reason); see \(key)"
        }
    }
}
