// SPDX-License-Identifier: Apache-2.0

/// The reason why the directory's database cannot be written, for people.
package enum StoreProblem: Error, Hashable, CustomStringConvertible {
    case full
    case readOnly
    /// Another program has held the file for a minute.
    case locked
    /// A newer version has changed the file beside this program.
    case newer
    /// The PostgreSQL server cannot be reached or refuses writes; the text has cause and remedy.
    case server(String)
    case other(String)

    package var description: String {
        switch self {
        case .full: "the disk of the state folder is full; free some space"
        case .readOnly: "the state folder is read-only; mount it for writing, or correct its owner"
        case .locked: "another program has held the database for a minute; end it, or wait for its import"
        case .newer: "a newer herald-directory has changed the database; start that version"
        case .server(let reason): reason
        case .other(let reason): "the database cannot be written: \(reason); check the disk and the log"
        }
    }
}
