// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore

/// A file of the state folder that a backup has.
///
/// The ring of the last second, copies of logos, the saved index of brands, tokens and locks are not among them: a start makes
/// or fetches them again.
struct StateFile: Hashable, Sendable {
    /// Its place in the state folder and in the backup, such as `customers/account-1f/brands.sqlite`.
    let path: String
    /// Nil for a file that is copied as it is.
    let database: StateDatabase?

    /// Files of the state folder, and of the folder of a customer's account.
    private static let plain = (usual: ["secret", "device-id", "disabled-targets"], account: ["device-id"])

    /// - Parameter path: relative to the state folder.
    /// - Returns: nil for any path that a backup cannot have, such as one that leads out of the folder.
    init?(_ path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.last, !path.utf8.contains(0) else { return nil }
        self.path = path
        database = StateDatabase(rawValue: name)
        switch parts.count {
        case 1: if database == nil, !Self.plain.usual.contains(name) { return nil }
        case 3:
            guard parts[0] == "customers", Self.isAccount(parts[1]),
                database == .brands || Self.plain.account.contains(name)
            else { return nil }
        default: return nil
        }
    }

    /// The files of a state folder, those of customers last.
    static func all(in state: String) -> [StateFile] {
        let usual = StateDatabase.allCases.map(\.rawValue) + plain.usual
        let accounts = ((try? FileManager.default.contentsOfDirectory(atPath: state + "/customers")) ?? [])
            .filter(isAccount).sorted()
        let names =
            usual
            + accounts.flatMap { account in
                (["brands.sqlite"] + plain.account).map { "customers/\(account)/\($0)" }
            }
        return names.filter { FileManager.default.fileExists(atPath: state + "/" + $0) }.compactMap(StateFile.init)
    }

    /// Whether a folder below `customers` is that of an account.
    private static func isAccount(_ name: String) -> Bool {
        name.hasPrefix("account-") && name.utf8.count <= 128
            && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D }
    }

    /// Files beside it that belong to its earlier content: logs of SQLite, and the saved index of brands.
    var companions: [String] {
        guard let database else { return [] }
        let folder = (path as NSString).deletingLastPathComponent
        let index = folder.isEmpty ? "brands.index" : folder + "/brands.index"
        return [path + "-wal", path + "-shm"] + (database == .brands ? [index] : [])
    }
}
