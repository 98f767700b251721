// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Primitives

extension SQLiteFile {
    func probe() async throws(StoreProblem) {
        do {
            let isNewer = try await database.write { database in
                // The number in the head of the file, which nothing else uses; the page is written all the same.
                let number = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                try database.execute(sql: "PRAGMA user_version = \(number)")
                return try Self.isNewer(database)
            }
            if isNewer { throw StoreProblem.newer }
        } catch {
            throw error as? StoreProblem ?? StoreProblem(error)
        }
    }
}

extension StoreProblem {
    init(_ error: any Error) {
        guard let error = error as? DatabaseError else {
            self = .other("\(error)")
            return
        }
        switch error.resultCode {
        case .SQLITE_FULL: self = .full
        case .SQLITE_READONLY: self = .readOnly
        case .SQLITE_BUSY: self = .locked
        default: self = .other(error.message ?? "SQLite error \(error.resultCode.rawValue)")
        }
    }
}

/// The time of the last backup, in a file of the state folder.
struct LastBackup {
    private let path: String
    private let folder: String

    init(folder: String) {
        self.folder = folder
        path = folder + "/last-backup"
    }

    /// Seconds since 1970; nil before the first backup.
    var time: Int64? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        return Int64(text.filter { !$0.isNewline })
    }

    /// Keeps the present time; a failure loses it, because the backup itself is there.
    func record() {
        try? PrivateFile.write(Array("\(Int64(Date().timeIntervalSince1970))\n".utf8), to: path)
        StateOwner.adopt(path, in: folder)
    }
}
