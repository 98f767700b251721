// SPDX-License-Identifier: Apache-2.0

/// A backup cannot be written.
package struct DatabaseBackupError: OperatorError, Hashable {
    package let path: String
    let reason: String

    package var kind: OperatorMistakeKind { .invalid }

    package var description: String {
        "\(path) cannot be written: \(reason); give a file that is not there yet, in a folder that is"
    }
}

/// A backup of a database that is not a file.
struct ServerBackupError: OperatorError, Hashable {
    let server: String

    var kind: OperatorMistakeKind { .conflict }

    var description: String {
        "the database is on PostgreSQL at \(server); back it up there with pg_dump or pg_basebackup"
    }
}
