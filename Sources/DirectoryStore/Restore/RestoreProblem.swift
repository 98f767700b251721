// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Why a backup cannot be restored: thing, cause and remedy.
package struct RestoreProblem: OperatorError, Hashable {
    package let description: String

    package var kind: OperatorMistakeKind { .conflict }

    init(_ text: String) { description = TerminalText.visible(text) }
}

/// A restore of a database that is not a file.
package struct ServerRestoreError: OperatorError, Hashable {
    package let description: String

    package var kind: OperatorMistakeKind { .conflict }

    package init(_ server: DatabaseServer) {
        description = """
            the database is on PostgreSQL at \(server.place); stop the servers and restore it there: pg_restore for an archive of \
            pg_dump, psql for its SQL, a base backup by the tools of the server; then run herald-directory accounts renew-feed
            """
    }
}
