// SPDX-License-Identifier: Apache-2.0

import GRDB

@testable import DirectoryStore

extension DirectoryDatabase {
    /// GRDB's connections to a SQLite file, for statements that only SQLite knows.
    var file: DatabasePool {
        get throws {
            struct NoFile: Error {}
            guard let file = engine as? SQLiteFile else { throw NoFile() }
            return file.database
        }
    }
}
