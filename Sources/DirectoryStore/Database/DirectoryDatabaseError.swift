// SPDX-License-Identifier: Apache-2.0

/// The database cannot be opened; the program ends with this message.
package struct DirectoryDatabaseError: Error, Hashable, CustomStringConvertible {
    enum Problem: Hashable {
        case open(String)
        /// The file belongs to another user; the text has the remedy.
        case owner(String)
        case newer
        /// A version before 0.2.0 wrote it.
        case tooOld
        /// `herald-directory restore` runs.
        case restoring
        /// A PostgreSQL server, its address or its password; the text has cause and remedy.
        case server(String)
    }

    package let path: String
    let problem: Problem

    init(path: String, problem: Problem) {
        self.path = path
        self.problem = problem
    }

    init(path: String, reason: String) { self.init(path: path, problem: .open(reason)) }

    package var description: String {
        switch problem {
        case .open(let reason):
            "\(path) cannot be opened: \(reason); is the state folder right, writable, and not full?"
        case .owner(let reason): "\(path) cannot be opened: \(reason)"
        case .server(let reason): reason
        case .restoring: "\(path) is being restored by herald-directory restore; start again after its end"
        case .newer: "\(path) was written by a newer herald-directory; install that version again"
        case .tooOld:
            "\(path) was written by a herald-directory before 0.2.0; run account list of version 0.2.0 with it once"
        }
    }
}
