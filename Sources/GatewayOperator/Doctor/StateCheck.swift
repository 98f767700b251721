// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayStore
import Glibc
import Host

/// Checks the folders, databases and secret of a gateway without changing them, for `herald check-config`.
struct StateCheck {
    /// Problems, each a sentence with its remedy; none of them stops calls.
    let problems: [String]

    /// Reads the folders and files that the configuration names.
    init(_ configuration: HeraldConfiguration) {
        var problems: [String] = []
        for (key, path) in [("gateway.state", configuration.state), ("gateway.runtime", configuration.runtime)] {
            if let reason = Self.reason(againstWriting: path) {
                problems.append(
                    "the folder \(path) cannot be written: \(reason); \(Self.ownership(of: path) ?? "see \(key)")")
            }
        }
        for path in [
            HeraldDatabase.ledgerPath(in: configuration.state), HeraldDatabase.brandsPath(in: configuration.state),
        ] {
            if let problem = Self.problem(ofDatabase: path, in: configuration.state) { problems.append(problem) }
        }
        let secret = configuration.state + "/secret"
        if let size = try? FileManager.default.attributesOfItem(atPath: secret)[.size] as? Int, size != 16 {
            problems.append("the secret \(secret) does not hold 16 bytes; a start makes a new one")
        }
        self.problems = problems
    }

    /// The problems as lines; empty without problems.
    var text: String {
        problems.map { "problem \($0)\n" }.joined()
            + (problems.isEmpty ? "" : "calls would be carried all the same\n")
    }

    /// Why an existing folder cannot be written; the start creates a missing one.
    private static func reason(againstWriting folder: String) -> String? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) else { return nil }
        guard isFolder.boolValue else { return SystemError.text(ENOTDIR) }
        return access(folder, W_OK | X_OK) == 0 ? nil : SystemError.text(errno)
    }

    /// The remedy for a folder of another user; nil for one of this user.
    private static func ownership(of folder: String) -> String? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder)
        guard let id = attributes?[.ownerAccountID] as? NSNumber, id.uint32Value != geteuid() else { return nil }
        let (owner, user) = (name(id.uint32Value), name(geteuid()))
        return """
            it belongs to \(owner), and this is \(user). Run the command as \(owner). If herald itself runs as \(user), \
            give it back: sudo chown -R \(user): \(folder)
            """
    }

    /// The name of a user, or its number without a name.
    private static func name(_ id: uid_t) -> String {
        getpwuid(id).map { String(cString: $0.pointee.pw_name) } ?? "user \(id)"
    }

    private static func problem(ofDatabase path: String, in folder: String) -> String? {
        do throws(HeraldDatabaseError) {
            if path == HeraldDatabase.ledgerPath(in: folder) {
                _ = try HeraldDatabase.ledgerReader(folder: folder)
            } else {
                _ = try HeraldDatabase.brandsReader(folder: folder)
            }
            return nil
        } catch {
            // A start creates a missing file and migrates an older one.
            return error.problem == .missing || error.problem == .older ? nil : "\(error)"
        }
    }
}
