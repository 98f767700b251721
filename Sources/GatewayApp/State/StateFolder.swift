// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import Host
import SIPCore

/// Creates the gateway's folders and locks them against other gateways.
enum StateFolder {
    /// Creates missing folders and locks all of them.
    ///
    /// A folder that cannot be created or locked is reported to `troubles`; calls go on without it.
    /// - Parameter folders: each with the configuration key that names it; two keys may name one folder.
    /// - Throws: `CommandFailure` when another gateway holds a lock.
    static func claim(
        _ folders: [(key: String, path: String)], reporting troubles: StateTroubles
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

    /// Creates a folder for this user and its group; an existing folder keeps its mode.
    ///
    /// - Returns: the problem with its remedy; nil on success.
    private static func prepare(_ path: String, key: String) -> String? {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
            return nil
        } catch {
            let reason = SystemError.text(error) ?? error.localizedDescription
            return "the folder \(path) cannot be made: \(reason); see \(key)"
        }
    }
}
