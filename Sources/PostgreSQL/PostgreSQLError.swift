// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A failure of a session or of a statement, with cause and remedy.
package struct PostgreSQLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds that callers and operators handle differently.
    package enum Cause: Sendable, Hashable {
        /// No host accepted a connection.
        case unreachable
        /// Wrong password, unknown user, no right to connect, or an address that the server does not admit.
        case loginRefused
        /// The TLS handshake failed, or one side requires TLS and the other has none.
        case tls
        /// The database does not exist.
        case noDatabase
        /// All sessions of the server or of the pool are in use.
        case busy
        /// The server takes no writes: a standby, or a primary without its role.
        case readOnly
        /// The server did not respond in time.
        case timedOut
        /// The connection was lost.
        case lost
        /// Another transaction was in the way; another attempt may succeed.
        case conflict
        /// The server keeps no statement of this session any more, or its plan is out of date.
        case staleStatement
        /// A row breaks a constraint.
        case constraint
        /// The role has no right to do that.
        case forbidden
        /// The server refused the statement for another reason.
        case refused
        /// A value does not fit its parameter or column.
        case value
    }

    package let cause: Cause
    /// The SQLSTATE; nil for failures outside the server.
    package let state: String?
    /// The name of the constraint that a row breaks.
    package let constraint: String?
    /// True if the connection was lost or timed out after the end of a transaction was sent: it may have been committed.
    package var isOutcomeUnknown = false
    /// The server as in `PostgreSQLAddress.description`.
    let server: String
    private let message: String

    /// Thing, cause and remedy in one line.
    package var description: String {
        let code = state.map { " (\($0))" } ?? ""
        return "PostgreSQL at \(server): \(message)\(code); \(remedy)"
    }

    /// Whether the same transaction may succeed on another attempt.
    package var isRetryable: Bool {
        guard !isOutcomeUnknown else { return false }
        return switch cause {
        case .conflict, .lost, .readOnly, .staleStatement: true
        default: false
        }
    }

    /// Whether the server or the way to it failed, and not the statement.
    package var isOutage: Bool {
        switch cause {
        case .unreachable, .loginRefused, .tls, .noDatabase, .busy, .readOnly, .timedOut, .lost: true
        default: false
        }
    }

    /// Whether the session has to connect anew.
    var endsSession: Bool {
        switch cause {
        case .lost, .timedOut, .readOnly, .unreachable: true
        default: false
        }
    }

    init(_ cause: Cause, _ message: String, server: String, state: String? = nil, constraint: String? = nil) {
        (self.cause, self.server, self.state, self.constraint) = (cause, server, state, constraint)
        self.message = TerminalText.visible(message)
    }

    private var remedy: String {
        switch cause {
        case .unreachable: "see whether the server runs and whether a firewall blocks its port; Herald tries again"
        case .loginRefused: "check user, password file, the server's pg_hba.conf and the role's right to connect"
        case .tls: tlsRemedy
        case .noDatabase: "create the database (createdb), or correct its name in the address"
        case .busy: "raise the server's max_connections, or close other sessions"
        case .readOnly: "promote a standby or start the primary, and name all servers in the address"
        case .timedOut: "see whether the server is overloaded or the network drops packets"
        case .lost: "see the server's log for the reason"
        case .conflict: "another transaction was in the way; try again"
        case .staleStatement: "try again"
        case .constraint: "correct the data"
        case .forbidden: "give the role its rights (GRANT), or use another role"
        case .refused: "see the server's log for the statement"
        case .value: "correct the value"
        }
    }

    // libpq names the kind of a failure in its text alone, and for a refused certificate not the reason.
    private var tlsRemedy: String {
        if message.contains("does not match host name") {
            return "name the host in the address as its certificate does, or issue a certificate for that name"
        }
        if message.contains("certificate verify failed") {
            return """
                the certificate has expired, or the file of sslrootcert does not have its issuer; \
                openssl s_client -starttls postgres -connect HOST:5432 shows which
                """
        }
        if message.contains("root certificate file") {
            return "add sslrootcert=FILE to the address, with the certificate of the issuer"
        }
        if message.contains("does not support SSL") {
            return "switch TLS on at the server (ssl = on), or change sslmode in the address"
        }
        return "check sslmode and sslrootcert in the address, and the server's certificate"
    }

    /// The error of a connection that was not made, by libpq's message.
    ///
    /// Its indented lines are questions, such as `Is the server running on that host?`; the text has a remedy of its own.
    static func connecting(_ message: String, server: String) -> PostgreSQLError {
        let facts = message.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("\t") }
        let line = SessionTexts.line(facts.joined(separator: "\n"))
        return PostgreSQLError(connectCause(line), "no connection: \(line)", server: server)
    }

    // libpq gives no codes before a session exists. Unknown texts count as unreachable and are shown.
    private static func connectCause(_ line: String) -> Cause {
        let causes: [(Cause, [String])] = [
            (
                .loginRefused,
                [
                    "authentication failed", "no password supplied", "role \"", "pg_hba.conf",
                    "permission denied for database",
                ]
            ),
            (.noDatabase, ["database \""]),
            (.busy, ["too many clients", "remaining connection slots", "too many connections"]),
            (.readOnly, ["session is read-only", "server is in hot standby", "session is not read-only"]),
            (.tls, ["SSL", "certificate"]),
            (.timedOut, ["timeout expired", "timed out"]),
        ]
        return causes.first { $0.1.contains { line.contains($0) } }?.0 ?? .unreachable
    }

    /// The error of a refused statement, by its SQLSTATE.
    ///
    /// Messages of class 22 repeat values, which may be numbers of callers. Their quoted part is left out. Class 23 has
    /// names in its messages, and values only in details, which are not read.
    static func refused(
        state: String, message: String, constraint: String?, server: String
    ) -> PostgreSQLError {
        let line = SessionTexts.line(message)
        return PostgreSQLError(
            cause(of: state), state.hasPrefix("22") ? SessionTexts.withoutValues(line) : line, server: server,
            state: state, constraint: constraint)
    }

    private static func cause(of state: String) -> Cause {
        switch state {
        case "40001", "40P01", "55P03", "CR000": .conflict
        case "57P01", "57P02", "57P03", "57P05": .lost
        case "25006": .readOnly
        case "26000", "0A000": .staleStatement
        case "57014": .timedOut
        case "53300": .busy
        case "42501": .forbidden
        case _ where state.hasPrefix("08"): .lost
        case _ where state.hasPrefix("23"): .constraint
        case _ where state.hasPrefix("22"): .value
        default: .refused
        }
    }
}

/// Forms of texts of libpq and the server.
enum SessionTexts {
    /// A text of several lines in one.
    static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: " ")
    }

    /// A message without its quoted value: `value "…" is out of range for type bigint`.
    ///
    /// A value may contain quotes, so everything between the first and the last one is left out.
    static func withoutValues(_ line: String) -> String {
        guard let first = line.firstIndex(of: "\""), let last = line.lastIndex(of: "\"") else { return line }
        return line[...first] + "…" + line[last...]
    }
}
